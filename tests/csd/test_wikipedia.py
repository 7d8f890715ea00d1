"""Articles as class texts: fetched once, whole or not there, told apart from what is no article."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from typer.testing import CliRunner

from unseen.cli import app
from unseen.core.classes import Classes
from unseen.core.errors import InputError, MissingExtraError
from unseen.csd import wikipedia
from unseen.csd.compare import compare_csds
from unseen.csd.wikipedia import Article, described, wikipedia_texts

CAT = Article("Cat", 11, "Cats purr.\n\nThey hunt.", "https://en.wikipedia.org/wiki/Cat")
DOG = Article("Dog", 22, "Dogs bark.", "https://en.wikipedia.org/wiki/Dog")
PAGES = {"Cat": CAT, "Kitty": CAT, "Dog": DOG}  # Kitty is a redirect


class Page:
    """A page of the fake encyclopaedia, which answers to what a page of the package answers to."""

    def __init__(self, asked: str) -> None:
        self.asked = asked
        self.categories = dict.fromkeys(
            ["Category:Pets", "Category:Articles needing disambiguation"]
        )
        if asked == "Python":
            self.categories["Category:Disambiguation pages with short descriptions"] = None

    def exists(self) -> bool:
        return self.asked in PAGES or self.asked in ("Python", "Void")

    def __getattr__(self, name: str) -> Any:
        if self.asked == "Void":
            return {"title": "Void", "lastrevid": 1, "text": " ", "fullurl": ""}[name]
        article = PAGES[self.asked]
        known = {"title": article.title, "text": article.text, "fullurl": article.url}
        return {**known, "lastrevid": article.revision}[name]


class Fake(ModuleType):
    """Stands in for the package; notes who asked and for what."""

    def __init__(self) -> None:
        super().__init__("wikipediaapi")
        self.asked: list[tuple[str, str]] = []
        self.agents: list[str] = []
        self.error: Exception | None = None

    def Wikipedia(self, user_agent: str, language: str) -> Any:  # noqa: N802  # the package's name
        self.agents.append(user_agent)

        class Wiki:
            def page(wiki, title: str) -> Page:  # noqa: N805  # self is the package
                self.asked.append((language, title))
                if self.error is not None:
                    raise self.error
                return Page(title)

        return Wiki()


@pytest.fixture
def package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Fake:
    fake = Fake()
    monkeypatch.setitem(sys.modules, "wikipediaapi", fake)
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("UNSEEN_CONTACT", raising=False)
    return fake


def files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache" / "wikipedia").glob("*"))


def test_articles_come_in_the_order_asked_and_redirects_are_followed(package: Fake) -> None:
    assert wikipedia_texts(["Dog", "Kitty"]) == [DOG, CAT]
    assert package.asked == [("en", "Dog"), ("en", "Kitty")]
    assert len(package.agents) == 1  # one connection


def test_the_second_call_needs_no_package_and_no_network(
    package: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = wikipedia_texts(["Cat", "Dog"])
    monkeypatch.setitem(sys.modules, "wikipediaapi", None)
    assert wikipedia_texts(["Dog", " Cat "]) == [first[1], first[0]]


def test_a_file_of_the_cache_says_what_it_is(package: Fake, tmp_path: Path) -> None:
    wikipedia_texts(["Kitty"])
    (path,) = files(tmp_path)
    kept = json.loads(path.read_text("utf-8"))
    assert kept.pop("fetched").endswith("+00:00")
    assert kept == {
        "asked": "Kitty",
        "language": "en",
        "title": "Cat",
        "revision": 11,
        "text": CAT.text,
        "url": CAT.url,
    }


def test_languages_are_kept_apart(package: Fake, tmp_path: Path) -> None:
    wikipedia_texts(["Cat"])
    wikipedia_texts(["Cat"], language="de")
    assert package.asked == [("en", "Cat"), ("de", "Cat")]
    assert len(files(tmp_path)) == 2
    with pytest.raises(InputError, match=r"language: expected a code .* found 'en.evil.org/'"):
        wikipedia_texts(["Cat"], language="en.evil.org/")


def test_a_damaged_file_is_fetched_again(package: Fake, tmp_path: Path) -> None:
    wikipedia_texts(["Cat"])
    (path,) = files(tmp_path)
    for content in ('{"title": "Cat"', '{"title": "Cat"}', "[]"):
        path.write_text(content, "utf-8")
        assert wikipedia_texts(["Cat"]) == [CAT]
        assert json.loads(path.read_text("utf-8"))["revision"] == 11
    assert len(package.asked) == 4


def test_a_write_that_fails_leaves_nothing(
    package: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(path: Path, value: object) -> None:
        path.write_text("half")
        raise OSError("disk full")

    monkeypatch.setattr(wikipedia, "write_json", half)
    with pytest.raises(OSError, match="disk full"):
        wikipedia_texts(["Cat"])
    assert files(tmp_path) == []


@pytest.mark.parametrize(
    ("title", "message"),
    [
        (
            "Unicorns",
            r"'Unicorns': en\.wikipedia\.org has no article of this title; give the class",
        ),
        ("Void", r"'Void': en\.wikipedia\.org has no article"),
        ("Python", r"'Python' may mean several things \(a disambiguation page\); give the class"),
    ],
)
def test_what_is_no_article_is_refused(
    title: str, message: str, package: Fake, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message + ".* or write a description of the class"):
        wikipedia_texts(["Cat", title])
    assert len(files(tmp_path)) == 1  # what was found before is kept, what was refused is not


def test_no_network_says_what_to_do(package: Fake) -> None:
    package.error = ConnectionError("no route to host")
    words = (
        r"'Cat' could not be fetched from en.wikipedia.org \(ConnectionError: no route to host\)"
    )
    with pytest.raises(InputError, match=words + "; check the connection"):
        wikipedia_texts(["Cat"])


def test_a_missing_package_is_named(package: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wikipediaapi", None)
    with pytest.raises(MissingExtraError, match=r'pip install "unseen\[wikipedia\]"'):
        wikipedia_texts(["Cat"])


def test_wikipedia_learns_who_asks(package: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    wikipedia_texts(["Cat"])
    monkeypatch.setenv("UNSEEN_CONTACT", "me@example.org")
    wikipedia_texts(["Dog"])
    assert package.agents[0].startswith("unseen/")
    assert package.agents[1].endswith(" (me@example.org)")


def test_only_missing_descriptions_are_filled_in(package: Fake) -> None:
    classes, articles = described(Classes(["Dog", "fish", "Cat"], [None, "They swim.", ""]))
    assert classes == Classes(["Dog", "fish", "Cat"], [DOG.text, "They swim.", CAT.text])
    assert articles == {"Dog": DOG, "Cat": CAT}
    assert [title for _, title in package.asked] == ["Dog", "Cat"]


class Answer:
    """What the encyclopaedia's server sends for one query, in the form that it has."""

    status_code = 200

    def __init__(self, asked: dict[str, Any]) -> None:
        title = {"Kitty": "Cat"}.get(asked["titles"], asked["titles"])
        parts: dict[str, Any] = {
            "info": {"lastrevid": 11, "fullurl": f"https://en.wikipedia.org/wiki/{title}"},
            "extracts": {"extract": "Cats purr.\n\n\n== Life ==\nThey hunt."},
            "categories": {"categories": [{"ns": 14, "title": "Category:Pets"}]},
        }
        if title == "Python":
            name = "Category:Disambiguation pages with short descriptions"
            parts["categories"]["categories"].append({"ns": 14, "title": name})
        page = {"pageid": 7, "ns": 0, "title": title, **parts[asked["prop"]]}
        missing = {"ns": 0, "title": title, "missing": ""}
        self.pages = {"-1": missing} if title == "Unicorns" else {"7": page}

    def json(self) -> dict[str, Any]:
        return {"query": {"pages": self.pages}}


def test_the_real_package_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The package as it is, with the server's answers put in: the fake must not drift from it."""
    pytest.importorskip("wikipediaapi")
    requests = pytest.importorskip("requests")
    sent: list[str] = []

    def get(self: Any, url: str, params: dict[str, Any], **_: Any) -> Answer:
        sent.append(self.headers["User-Agent"])
        assert url == "https://en.wikipedia.org/w/api.php"
        return Answer(params)

    monkeypatch.setattr(requests.Session, "get", get)
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    (article,) = wikipedia_texts(["Kitty"])
    assert (article.title, article.revision) == ("Cat", 11)
    assert article.url == "https://en.wikipedia.org/wiki/Cat"
    assert article.text.split() == ["Cats", "purr.", "Life", "They", "hunt."]
    assert len(sent) == 3
    assert sent[0].startswith("unseen/")
    with pytest.raises(InputError, match=r"'Unicorns': .* has no article"):
        wikipedia_texts(["Unicorns"])
    with pytest.raises(InputError, match="'Python' may mean several things"):
        wikipedia_texts(["Python"])


def test_csds_rest_on_the_articles(package: Fake) -> None:
    bare, filled = Classes(["Dog", "Cat"]), Classes(["Dog", "Cat"], [DOG.text, CAT.text])
    found = compare_csds(bare, texts="wikipedia")
    assert found["nearest"] == compare_csds(filled)["nearest"]
    assert set(found["nearest"]) == {"description", "both", "name"}
    assert found["articles"] == [
        {"class": "Dog", "title": "Dog", "revision": 22, "url": DOG.url},
        {"class": "Cat", "title": "Cat", "revision": 11, "url": CAT.url},
    ]
    assert compare_csds(bare)["articles"] == []
    with pytest.raises(InputError, match="texts: expected wikipedia, found 'britannica'"):
        compare_csds(bare, texts="britannica")


def test_the_command_records_the_revisions(package: Fake, tmp_path: Path) -> None:
    path = tmp_path / "classes.csv"
    path.write_text("name,description\nDog,\nKitty,\nfish,They swim.\n", "utf-8")
    words = ["csd", "--classes", str(path), "--texts", "wikipedia"]
    run: Callable[..., Any] = CliRunner().invoke
    answer = run(app, [*words, "--json"])
    assert answer.exit_code == 0, answer.output
    articles = json.loads(answer.stdout)["articles"]
    assert [(a["class"], a["title"], a["revision"]) for a in articles] == [
        ("Dog", "Dog", 22),
        ("Kitty", "Cat", 11),
    ]
    answer = run(app, words)
    assert (
        "Kitty: Wikipedia, 'Cat', revision 11, https://en.wikipedia.org/wiki/Cat" in answer.stdout
    )

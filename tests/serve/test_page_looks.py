"""What the page looks like to everybody: axe-core, narrow screens, both themes, no rules broken."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .browser import Visit, served, why_not

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]

LONG = "Wolfeschlegelsteinhausen " + "b" * 39  # as long as a person's name may be
VIEWS = {  # address, what has to be there
    "map": ("", "#map[data-ready]"),
    "node": ("node/n12", ".node h1"),
    "class": ("class/law", ".class-view h1"),
    "edit": ("edit/law", "#class-name"),
    "search": ("search/star", ".node-list"),
    "teach": ("teach", ".card"),
    "versions": ("versions", ".version"),
}


@pytest.fixture(scope="module")
def base(runs: Path) -> Iterator[str]:
    """Give the address of a run about which people with short and long names disagree."""
    import httpx

    with served(runs / "belief") as address:
        for person, name in (("Ada", "law"), (LONG, "sports")):
            body = {"person": person, "answers": [{"id": "n12", "class": name}]}
            found = httpx.post(f"{address}/api/v1/labels", json=body, timeout=120)
            assert found.status_code == 201
        yield address


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_nothing_serious_and_nothing_sticks_out(
    visit: Visit, base: str, width: int, theme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    visitor = visit(base, "Ada", width, theme)
    bad = []
    for name, (place, until) in VIEWS.items():
        page = visitor.go(place, until)
        visitor.calm()
        bad += [
            (name, each["id"], each["nodes"][0]["html"][:200])
            for each in axe.run(page).response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        if page.evaluate("() => document.documentElement.scrollWidth") > width:
            bad.append((name, "wider than the screen", str(width)))
    assert bad == []
    assert visitor.problems == []


def test_what_users_wrote_is_never_markup(visit: Visit, base: str) -> None:
    visitor = visit(base, "<b>Ada</b>")
    page = visitor.go("search/%3Cimg%20src%3Dx%3E", "h1")
    assert "<img src=x>" in page.locator("h1").inner_text()
    visitor.go("edit", "#class-name")
    page.fill("#class-name", "<script>alert(1)</script>")
    page.wait_for_selector(".preview .big")
    assert page.locator("#panel script, #panel img, .person b").count() == 0
    assert "<script>" in page.locator(".preview").inner_text()


def test_what_to_do_is_said_when_the_server_is_gone(visit: Visit, one_run: Path) -> None:
    with served(one_run) as address:
        visitor = visit(address, "Ada")
        page = visitor.go("", "#map[data-ready]")
    page.fill("#search", "star")
    page.wait_for_selector(".option-none")
    assert "unseen serve" in page.locator(".option-none").inner_text()


def test_a_token_is_asked_for_and_kept(visit: Visit, one_run: Path, tmp_path: Path) -> None:
    secret = tmp_path / "tokens"
    secret.write_text("write " + "s" * 40 + "\nread " + "r" * 40 + "\n", "utf-8")
    secret.chmod(0o600)
    with served(one_run, "--token-file", str(secret)) as address:
        visitor = visit(address)
        page = visitor.go("", "#question")
        page.fill("#question", "r" * 40)
        page.keyboard.press("Enter")
        page.wait_for_selector("#map[data-ready]")
        page.reload()
        page.wait_for_selector("#map[data-ready]")
        visitor.go("teach", ".empty")
        assert "write token" in page.locator(".empty").inner_text()

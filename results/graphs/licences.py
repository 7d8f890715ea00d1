"""Licences of software and content, joined when they have the same owner.

Source: the Python package scancode-toolkit-mini 32.5.0 (some 126 megabytes): the database of
licences of ScanCode, under the Creative Commons licence Attribution 4.0; the texts of licences are
those of their owners.

Node: a licence, an exception to one, or a notice. Text: its name and the start of its text, up to
150 words. Edge: both have the same owner, one of at most thirty licences. Class: the category of
ScanCode.

Kinds: legal texts of up to 150 words; more than a third of the nodes isolated; edges from shared
attributes.

Known weaknesses: many texts are short variants of a well-known one. Whether a licence is
proprietary or commercial, or limits a copyleft, can stand in a clause far behind the start.
"""

from __future__ import annotations

import re
from collections import defaultdict

from graphs.sources import Made, pip, sharing, start

WORDS = 150
MOST = 30
FIELD = re.compile(r"^(\w+): (.*)$", re.MULTILINE)


def build() -> Made:
    """Read all licences: a head between two lines of dashes, then the text."""
    folder = pip("scancode-toolkit-mini==32.5.0") / "licensedcode/data/licenses"
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(folder.glob("*.LICENSE")):
        _, head, *told = file.read_text(encoding="utf-8").split("---\n", 2)
        about, said = dict(FIELD.findall(head)), "".join(told)
        if not said.strip():  # some have no text of their own
            continue
        ids.append(file.stem)
        texts.append(start(f"{about['name'].strip(chr(39))}. {said}", WORDS))
        labels.append(about["category"])
        if about["owner"] != "Unspecified":
            holders[about["owner"]].append(file.stem)
    return Made(ids, texts, labels, sharing(holders, MOST))

"""Terms of computing and the subjects a dictionary files them under.

Data: the Free On-line Dictionary of Computing, http://foldoc.org/, editor Denis Howe, in the
Debian package dict-foldoc (20230119-1 in Debian 12). Its copyright file states: GNU Free
Documentation License, version 1.1 or later, no invariant sections or cover texts.

Node: an entry whose first subject tag is one of the subjects below. Text: its first headword and
its definition up to 150 words, without subject tags, braces, addresses, dates and the source
"[Jargon File]". Where an entry has numbered senses with a tag each, only the first sense is read,
as the class is that sense's. Edge: a cross reference in that sense, resolved by headword (a plural
"s" is dropped where needed); an entry that only points to another stands for the one it points to,
unless it is a node itself. Class: the first subject of the first tag ("<language, humour>" is
language); kept are the 14 largest but for "tool", which says little of what a thing is about.
Left out: some 240 country codes, one sentence each and the same but for the country, and "TLAs", a
list of all headwords of three letters.

Weaknesses: a third of the dictionary has no tag and is left out, with its cross references.
Subjects overlap (hardware, storage, processors; networking, telecommunications) and further
subjects of an entry do not count here. Some texts are only a headword and its expansion. A
headword of several entries is taken to mean the first. Much of the text is of the 1990s.
"""

from __future__ import annotations

import gzip
import re
import string
from functools import reduce

from graphs.sources import Made, debian

SUBJECTS = {
    "body": "Organisations and standards bodies",
    "character": "Characters and punctuation marks",
    "communications": "Telecommunications",
    "company": "Companies",
    "database": "Databases",
    "hardware": "Hardware",
    "jargon": "Hacker jargon and slang",
    "language": "Programming languages",
    "mathematics": "Mathematics",
    "networking": "Computer networking",
    "operating system": "Operating systems",
    "processor": "Processors",
    "programming": "Programming",
    "storage": "Data storage",
}
DIGITS = string.ascii_uppercase + string.ascii_lowercase + string.digits + "+/"
TAG = re.compile(r"^((?:\d+\. )?(?:\([^()]*\) )?)<[^<>@]+>")
FIRST = re.compile(r"\s*(1\. )?(?:\([^()]*\)\s+)?<([^<>@]+)>")  # "(DCP) <language>" comes too
ONLY = re.compile(r"\s*(?:<[^<>]+>\s*)?\{([^{}()]+)\}\.?\s*(?:\([\d-]+\))?\s*")
BRACES = re.compile(r"\{([^{}]+)\}")
ADDRESS = re.compile(r"\s*\((?:[^()\s]*[/:][^()]*|[^()\s]+\.(?:html?|txt))\)")
LINK = re.compile(r"(?:[\w ]*: )?\{[^{}]*\([^{}]*\)\}\.?")
WORDS = 150


def build() -> Made:
    """Return the tagged entries, their cross references and subjects."""
    entries, named = _entries()
    ids: dict[int, str] = {}  # by place in the file
    labels, senses = [], []
    for place, (name, body) in entries.items():
        first = FIRST.match(body)
        subject = " ".join(first[2].split(",")[0].split()) if first else ""
        if not first or subject not in SUBJECTS or name == "TLAs" or "{country code} for" in body:
            continue
        ids[place] = f"{name} #{place}" if name in ids.values() else name
        labels.append(SUBJECTS[subject])
        sense = re.split(r"\n\s*\n\s*2\. " if first[1] else r"\n\s*\n\s*\d+\. <", body)[0]
        senses.append(sense.replace("[{Jargon File}]", ""))  # a source, no cross reference

    def found(reference: str, hops: int = 3) -> int | None:
        key = " ".join(reference.split()).lower()
        place = named.get(key, named.get(key.removesuffix("s")))
        if place is None or place in ids or not hops:
            return place
        only = ONLY.fullmatch(entries[place][1])
        return found(only[1], hops - 1) if only else place

    edges: dict[tuple[str, str], None] = {}
    for place, sense in zip(ids, senses, strict=True):
        for other in map(found, BRACES.findall(sense)):
            if other in ids and other != place:
                edges[ids[min(place, other)], ids[max(place, other)]] = None
    texts = [_text(entries[place][0], sense) for place, sense in zip(ids, senses, strict=True)]
    return Made(list(ids.values()), texts, labels, list(edges))


def _entries() -> tuple[dict[int, tuple[str, str]], dict[str, int]]:
    """Return name and body of each entry by its place in the file, and the place of each name."""
    folder = debian("dict-foldoc") / "usr" / "share" / "dictd"
    whole = gzip.decompress((folder / "foldoc.dict.dz").read_bytes())
    named: dict[str, int] = {}
    sizes: dict[int, int] = {}
    for line in (folder / "foldoc.index").read_text(encoding="utf-8").splitlines():
        name, start, size = line.split("\t")[:3]
        sizes[place := _number(start)] = _number(size)
        named[name.lower()] = min(place, named.get(name.lower(), place))
    entries = {}
    for place in sorted(sizes):
        head, _, body = whole[place : place + sizes[place]].decode("utf-8").partition("\n\n")
        if not head.startswith("00-database"):
            entries[place] = (head.strip().split("\n")[0].split("%%%")[0], body)
    return entries, named


def _number(written: str) -> int:
    """Read a number of a dictd index: base 64, most significant digit first."""
    return reduce(lambda value, digit: value * 64 + DIGITS.index(digit), written, 0)


def _text(name: str, sense: str) -> str:
    """Return name and definition as plain prose."""
    parts = [" ".join(part.split()) for part in re.split(r"\n\s*\n", sense)]
    parts = [TAG.sub(r"\1", TAG.sub(r"\1", part).strip()) for part in parts]  # some have two tags
    text = " ".join(part for part in parts if not LINK.fullmatch(part)).strip()
    text = re.sub(r"^1\. |(?:E-mail: )?<[^<>\s]+@[^<>\s]+>[.,]?|\(\d{4}-\d\d(-\d\d)?\)", "", text)
    text = BRACES.sub(lambda found: ADDRESS.sub("", " " + found[1]).strip(), text)
    return " ".join(f"{name}: {text}".split()[:WORDS])

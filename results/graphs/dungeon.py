"""What there is in a dungeon: monsters, items, artefacts and places, joined by mention.

Source: the Debian package crawl-common 0.28.0, the game Dungeon Crawl Stone Soup, GPL version 2 or
later.

Node: a thing that the game describes. Text: the description without the name, up to 80 words.
Edge, directed: the description mentions the other by its name. Class: the file of descriptions.

Kinds: descriptions in a game; directed edges; edges from links and references.

Known weaknesses: an artefact is an item with a name. Descriptions put together by the program are
left out, as are monsters described by a rhyme or a mere quotation.
"""

from __future__ import annotations

import re

from graphs.sources import Made, debian, start

FILES = {
    "monsters": "Monsters",
    "items": "Items",
    "unrand": "Artefacts",
    "features": "Dungeon features",
}
WORDS = 80
SHORTEST = 4  # letters of a name that is looked for in other descriptions


def build() -> Made:
    """Read the files: entries between lines of per cent signs, each a name and a description."""
    folder = debian("crawl-common") / "usr/share/crawl/dat/descript"
    said: dict[str, str] = {}
    labels: dict[str, str] = {}
    for file, label in FILES.items():
        entries = (folder / f"{file}.txt").read_text(encoding="utf-8").split("%%%%")
        for entry in entries:
            lines = re.sub(r"^#.*$", "", entry, flags=re.MULTILINE).strip().partition("\n")
            own = lines[0].strip()
            if own and lines[2].strip() and not re.search(r"\{\{|^<", lines[2]) and own not in said:
                said[own] = " ".join(lines[2].split())
                labels[own] = label
    named = {own.lower(): own for own in said if len(own) >= SHORTEST}
    longest = sorted(named, key=lambda name: (-len(name), name))
    mention = re.compile(rf"\b({'|'.join(map(re.escape, longest))})s?\b")
    every = {(own, named[name]) for own in said for name in mention.findall(said[own].lower())}
    edges = sorted(edge for edge in every if edge[0] != edge[1])
    texts = [start(text, WORDS) for text in said.values()]
    return Made(list(said), texts, list(labels.values()), edges, directed=True)

"""Icons by name, joined by the words that one may find them by.

Source: the npm package @tabler/icons 3.51.0, MIT licence.

Node: an icon. Text: its name, without a first word that is its category, as in "brand toyota" and
"number 62". Edge: two icons share a search word that at most twenty have. Class: the category that
the set files it under.

Kinds: texts of one to three words; forty classes, some under twenty nodes; edges from
co-occurrence.

Known weaknesses: the largest category, "System", is a mixed remainder. Many icons are one thing
with a mark added (off, plus, check, x) that says nothing about the category. Letters and numbers
are in many frames.
"""

from __future__ import annotations

import json
from collections import defaultdict

from graphs.sources import Made, npm, sharing

MOST = 20
LEAST = 3  # letters of a word that may be a category
NAMES = {  # category: name of the class, where it needs a word more
    "Brand": "Brands",
    "Design": "Design tools",
    "Document": "Documents",
    "Extensions": "File extensions",
    "Logic": "Logic gates",
    "Map": "Maps",
    "Math": "Mathematics",
    "Mood": "Moods",
    "Sport": "Sports",
    "System": "System and user interface",
    "Text": "Text editing",
    "Zodiac": "Zodiac signs",
}


def build() -> Made:
    """Read the list of icons."""
    listed = json.loads((npm("@tabler/icons@3.51.0") / "package/icons.json").read_text("utf-8"))
    icons = {own: icon for own, icon in sorted(listed.items()) if icon["category"]}
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for own, icon in icons.items():
        for tag in icon["tags"]:
            holders[str(tag)].append(own)
    return Made(
        ids=list(icons),
        texts=[_text(own, icon["category"]) for own, icon in icons.items()],
        labels=[NAMES.get(icon["category"], icon["category"]) for icon in icons.values()],
        edges=sharing(holders, MOST),
    )


def _text(own: str, category: str) -> str:
    """Return the words of a name: "currency-euro" of "Currencies" is "euro"."""
    first, *others = own.split("-")
    told = len(first) > LEAST and category.lower().startswith(first[:-1])
    return " ".join(others if told and others else [first, *others])

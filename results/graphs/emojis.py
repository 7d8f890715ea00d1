"""Emoji by their Spanish names, joined by keywords.

Source: the npm package emojibase-data 17.0.0, MIT licence; names and keywords are those of the
Unicode Common Locale Data Repository, Unicode licence.

Node: an emoji, once for all skin tones. Text, in Spanish: its name, for flags that of the country
alone. Edge: two emoji share a Spanish keyword that at most twenty have. Class: the group of the
emoji keyboard, by its Spanish name.

Kinds: texts of one to four words, in another language than English, class names in Spanish too;
edges from co-occurrence.

Known weaknesses: the groups were made for a keyboard: plants are with animals, clocks and the
weather with travel, and hearts with smileys.
"""

from __future__ import annotations

import json
from collections import defaultdict

from graphs.sources import Made, npm, sharing

MOST = 20
SKIPPED = "componentes"  # skin tones and hair, no emoji of their own


def build() -> Made:
    """Read the Spanish list and return its emoji."""
    folder = npm("emojibase-data@17.0.0") / "package/es"
    every = json.loads((folder / "data.json").read_text(encoding="utf-8"))
    told = json.loads((folder / "messages.json").read_text(encoding="utf-8"))
    groups = {group["order"]: group["message"] for group in told["groups"]}
    kept = [one for one in every if groups.get(one.get("group"), SKIPPED) != SKIPPED]
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for one in kept:
        for keyword in one.get("tags", []):
            holders[keyword].append(one["hexcode"])
    return Made(
        ids=[one["hexcode"] for one in kept],
        texts=[one["label"].removeprefix("Bandera: ") for one in kept],
        labels=[groups[one["group"]] for one in kept],
        edges=sharing(holders, MOST),
    )

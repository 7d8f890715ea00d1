"""Provinces, districts and other parts of countries, by what kind of unit they are.

Source: the Debian package iso-codes (4.15.0-1 in Debian 12), GNU LGPL version 2.1 or later: its
lists of the standards ISO 3166-1 (countries) and ISO 3166-2 (parts of countries).

Node: a country or a part of one. Text: its name and no more, as one writes it there or in English.
Edge: a unit and the one it is a direct part of (hierarchy). Class: the kind of unit that the
standard gives ("Province", "London borough"); countries have their own class. A few ways to write
the same kind are joined; kinds of fewer than three units are left out, and what is part of such a
unit is then joined to the next larger one.

Kinds: over fifty classes, three in five of them of under twenty nodes; texts of one to four words;
edges of a hierarchy; no more than a few edges within a class.

Known weaknesses: a name seldom says the kind of unit, so texts alone help little; what units of
the same country are helps much more, and they are two edges apart. Kinds are those of the standard
in its English translation: "Region" or "District" means another thing in each country. Names in
other scripts are transcribed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

from graphs.sources import Made, debian

SAME = {  # kind as in the list: as it is called here
    "Autonomous city in north africa": "Autonomous city",
    "Chain (of islands)": "Group of islands",
    "Group of islands (20 inhabited islands)": "Group of islands",
    "Islands, groups of islands": "Group of islands",
    "Land": "Federal state (Land)",
    "Voivodship": "Voivodeship",
}
COUNTRY = "Country"
FEWEST = 3


def build() -> Made:
    """Read both lists and return the countries and their parts."""
    folder = debian("iso-codes") / "usr/share/iso-codes/json"
    countries = _list(folder / "iso_3166-1.json")
    parts = _list(folder / "iso_3166-2.json")
    names = {one["alpha_2"]: one.get("common_name", one["name"]) for one in countries}
    kinds = dict.fromkeys(names, COUNTRY)
    above: dict[str, str] = {}
    for one in parts:
        code = one["code"]
        country = code.split("-")[0]
        names[code], kinds[code] = one["name"], SAME.get(one["type"], one["type"])
        # A parent is given with or without the country before it.
        parent = one.get("parent", country)
        above[code] = parent if "-" in parent or parent == country else f"{country}-{parent}"
    sizes = Counter(kinds.values())
    ids = sorted(own for own in names if sizes[kinds[own]] >= FEWEST)
    kept = set(ids)
    edges: list[tuple[str, str]] = []
    for own in ids:
        larger = above.get(own)
        while larger is not None and larger not in kept:
            larger = above.get(larger)
        if larger is not None and larger != own:
            edges.append((own, larger))
    texts = [re.sub(r"\s*[\[(].*?[\])]", "", names[own]).strip() or names[own] for own in ids]
    return Made(ids, texts, [kinds[own] for own in ids], edges)


def _list(path: Path) -> list[dict[str, str]]:
    (found,) = json.loads(path.read_text(encoding="utf-8")).values()
    return list(found)

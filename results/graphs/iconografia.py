"""Subjects of works of art, in Portuguese: Iconclass.

Source: the Python package iconclass 0.29, MIT licence; it holds the texts of Iconclass, which its
makers publish under the Open Database License.

Node: a notation of Iconclass that refers to another or is referred to; those of single persons,
which end in a name in brackets, and those that are made by keys are left out. Text, in Portuguese:
what the notation stands for. Edge: one of them refers to the other ("see also"). Class: the main
division, the first digit, by its Portuguese name in the source.

Kinds: texts in another language than English, class names in Portuguese too; edges from links;
links across divisions.

Known weaknesses: the references are no more than the makers cared to enter. A text often leaves out
what the notations above it say. Some texts were not translated and are in English.
"""

from __future__ import annotations

import zipfile

from graphs.sources import Made, pip


def build() -> Made:
    """Read the notations and return those that refer to each other."""
    with zipfile.ZipFile(pip("iconclass==0.29") / "iconclass/data.zip") as packed:
        notations = packed.read("notations.txt").decode("utf-8")
        lines = packed.read("txt_pt.txt").decode("utf-8").splitlines()
    texts = dict(line.split("|", 1) for line in lines if "|" in line)
    edges: set[tuple[str, str]] = set()
    for record in notations.split("$\n"):
        own, field = "", ""
        for line in record.splitlines():
            mark, _, value = line.partition(" ")
            field = field if mark == ";" else mark  # a semicolon goes on with the field above
            if field == "N":
                own = value
            elif field == "R" and _plain(own) and _plain(value) and own != value:
                edges.add((min(own, value), max(own, value)))
    edges = {edge for edge in edges if texts.keys() >= set(edge)}
    ids = sorted({end for edge in edges for end in edge})
    return Made(
        ids=ids,
        texts=[" ".join(texts[own].split()) for own in ids],
        labels=[texts[own[0]] for own in ids],
        edges=sorted(edges),
    )


def _plain(notation: str) -> bool:
    """Return whether a notation is below a main division and is no name or key."""
    return len(notation) > 1 and notation[0].isdigit() and "(" not in notation

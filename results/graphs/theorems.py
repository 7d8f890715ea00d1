"""Theorems of a formal library of mathematics, joined by the proofs that use them.

Source: the Debian package metamath-databases (git of 2021-01-01), the Metamath Proof Explorer in
its file set.mm, dedicated to the public domain (CC0).

Node: a theorem of the parts from number theory to graph theory, but for lemmas, obsolete versions
and the part on structures as such, which is about notation. Text: the comment of the theorem,
without quotes around formulas, contributors and names of other theorems, up to 100 words. Edge: the
proof of one theorem cites the other. Class: the part of the library, by a plain name.

Kinds: fairly homophilous (five edges of six); class names whose words occur in nodes; more edges a
node than most graphs here.

Known weaknesses: one text in ten is that of another theorem. The parts are chapters of a book, so
that a theorem about sums may stand in the part where it is first needed. Comments are terse and
repeat each other ("closure of ..."); one in ten has fewer than six words. Proofs cite small facts
(a ring is a group) much more than theorems of note, and what they cite from logic, set theory and
the real numbers is left out with these parts.
"""

from __future__ import annotations

import re
from bisect import bisect

from graphs.sources import Made, debian

PARTS = {
    "ELEMENTARY NUMBER THEORY": "Number theory",
    "BASIC CATEGORY THEORY": "Category theory",
    "BASIC ORDER THEORY": "Order theory and lattices",
    "BASIC ALGEBRAIC STRUCTURES": "Algebra: groups, rings, fields and modules",
    "BASIC LINEAR ALGEBRA": "Linear algebra",
    "BASIC TOPOLOGY": "Topology and metric spaces",
    "BASIC REAL AND COMPLEX ANALYSIS": "Analysis: measure, integration and differentiation",
    "BASIC REAL AND COMPLEX FUNCTIONS": "Real and complex functions",
    "ELEMENTARY GEOMETRY": "Geometry",
    "GRAPH THEORY": "Graph theory",
}
WORDS = 100
PART = re.compile(r"\$\(\s*\n#{20,}[#*\n]*\n(.*?)\n#{20,}", re.DOTALL)
# $( comment $) label $p formula $= ( labels cited ) letters of the proof $.
THEOREM = re.compile(
    r"\$\(((?:(?!\$\)).)*?)\$\)\s*(\S+) \$p [^$]*\$=\s*\(([^)]*)\)[^$]*\$\.", re.DOTALL
)
HISTORY = re.compile(
    r"\((?:Contributed|Revised|Proof|New usage|Moved)[^()]*(?:\([^()]*\)[^()]*)*\)"
)


def build() -> Made:
    """Read the library and return its theorems."""
    file = debian("metamath-databases") / "usr" / "share" / "metamath" / "databases" / "set.mm"
    library = file.read_text(encoding="utf-8", errors="replace")
    parts = [(found.start(), " ".join(found[1].split())) for found in PART.finditer(library)]
    starts = [start for start, _ in parts]
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    cited: dict[str, list[str]] = {}
    for found in THEOREM.finditer(library, starts[0]):
        part = PARTS.get(parts[bisect(starts, found.start()) - 1][1])
        text = _text(found[1])
        if part and text and not re.match("Lemma", text) and "Obsolete" not in text:
            texts[found[2]], labels[found[2]] = text, part
            cited[found[2]] = found[3].split()
    edges = {
        (min(own, other), max(own, other))
        for own, others in cited.items()
        for other in others
        if other in texts and other != own
    }
    ids = list(texts)
    return Made(ids, list(texts.values()), list(labels.values()), sorted(edges))


def _text(comment: str) -> str:
    """Return what a comment says about the theorem."""
    said = " ".join(comment.split())
    # (Contributed by NM, 5-Aug-1993.) (Proof shortened by ...) (New usage is discouraged.)
    said = HISTORY.sub("", said)
    said = re.sub(r"~ \S*http\S*", "", said)
    said = re.sub(r"~ \S+", "another theorem", said).replace("`", "")
    return " ".join(re.sub(r"\s+([.,;:])", r"\1", said).split()[:WORDS])

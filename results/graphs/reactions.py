"""Reactions in the metabolism of a bacterium, joined by the substances they share.

Source: the Python package cobra 0.32.1, under the LGPL or GPL, version 2 or later; it states no
other licence for the model iJO1366 of Escherichia coli in it, which Orth and others published in
2011 and the BiGG database of models distributes under terms of its own.

Node: a reaction that the model puts in a group. Text: its name. Edge: two reactions turn over the
same substance in the same compartment; substances of more than twelve reactions (water, ATP) give
no edge. Class: the group ("subsystem") of the reaction, by the name in the model.

Kinds: edges from co-occurrence; class names of a trade (biochemistry); very uneven class sizes.

Known weaknesses: a text is the name of an enzyme or a transport, seldom more than eight words,
often with symbols of substances. Reactions of one enzyme on fatty acids of several lengths differ
by a number only. Exchanges with the medium, which are in no group, reactions without a group or
name and groups of fewer than six are left out. Transport through the inner and the outer membrane
share most words.
"""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from itertools import combinations
from xml.etree import ElementTree

from graphs.sources import Made, pip

FEWEST = 6
MOST = 12  # reactions of a substance that still says something about them
GROUPS = "{http://www.sbml.org/sbml/level3/version1/groups/version1}"


def build() -> Made:
    """Read the model and return its reactions."""
    with gzip.open(pip("cobra==0.32.1") / "cobra" / "data" / "iJO1366.xml.gz") as model:
        root = ElementTree.parse(model).getroot()
    group = {
        member.get(f"{GROUPS}idRef", ""): found.get(f"{GROUPS}name", "")
        for found in root.iter(f"{GROUPS}group")
        for member in found.iter(f"{GROUPS}member")
    }
    sizes = Counter(group.values())
    texts: dict[str, str] = {}
    users: defaultdict[str, list[str]] = defaultdict(list)
    for reaction in root.iterfind(".//{*}reaction"):
        own = reaction.get("id", "")
        label = group.get(own, "Unassigned")
        text = " ".join(reaction.get("name", "").split())
        if label == "Unassigned" or sizes[label] < FEWEST or not text:
            continue
        texts[own] = text
        for substance in sorted({s.get("species", "") for s in reaction.iter()} - {""}):
            users[substance].append(own)
    edges = {
        (min(pair), max(pair))
        for sharing in users.values()
        if len(sharing) <= MOST
        for pair in combinations(sharing, 2)
    }
    ids = sorted(texts)
    return Made(ids, [texts[own] for own in ids], [group[own] for own in ids], sorted(edges))

"""Terms for the technology of buildings, joined by tags.

Source: the Python package brickschema 0.8.0, BSD 3-clause licence: the ontology Brick 1.3.

Node: a kind of point, equipment or location that has a definition. Text: the definition. Edge: both
carry the same tag ("Chilled", "Exhaust"), one of at most sixty terms. Class: the branch of the
ontology; large branches are cut at their second level, small ones are put together.

Kinds: edges from co-occurrence, dense; heterophilous: a tag says what a term is about, and not
whether it is a sensor or a command.

Known weaknesses: definitions tend to repeat the name of the term, and with it the branch. Some
terms are in two branches, and count for the first in the order of `BRANCHES`.
"""

from __future__ import annotations

import re
from collections import defaultdict

from graphs.sources import Made, pip, sharing

BRANCHES = {  # head of a branch: its class
    "Alarm": "Alarms",
    "Command": "Commands",
    "Parameter": "Parameters and limits",
    "Setpoint": "Setpoints",
    "Status": "Statuses",
    "Sensor": "Sensors",
    "HVAC_Equipment": "HVAC equipment",
    "Equipment": "Other equipment",
    "Location": "Locations and spaces",
    "Collection": "Systems and collections",
}
MOST = 60
TERM = re.compile(r"^brick:(\w+) a owl:Class\b(.*?)\n\n", re.MULTILINE | re.DOTALL)
PARENTS = re.compile(r"rdfs:subClassOf ([^;.]*)")
DEFINED = re.compile(r'skos:definition "+(.*?)"+@en', re.DOTALL)
TAGS = re.compile(r"brick:hasAssociatedTag ([^;.]*)")


def build() -> Made:
    """Read the terms of the ontology and find the branch of each."""
    file = pip("brickschema==0.8.0") / "brickschema/ontologies/1.3/Brick.ttl"
    terms = dict(TERM.findall(file.read_text(encoding="utf-8")))
    parents = {
        own: re.findall(r"brick:(\w+)", " ".join(PARENTS.findall(said)))
        for own, said in terms.items()
    }

    def above(own: str) -> set[str]:
        return {own}.union(*(above(parent) for parent in parents.get(own, []) if parent != own))

    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for own in sorted(terms):
        over, defined = above(own), DEFINED.search(terms[own])
        branch = next((name for head, name in BRANCHES.items() if head in over), None)
        if branch and defined and own not in BRANCHES:
            texts[own] = " ".join(defined[1].split())
            labels[own] = branch
            for tag in re.findall(r"tag:(\w+)", " ".join(TAGS.findall(terms[own]))):
                holders[tag].append(own)
    return Made(list(texts), list(texts.values()), list(labels.values()), sharing(holders, MOST))

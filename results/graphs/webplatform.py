"""Features of the Web, joined by the specification that defines them.

Source: the npm package web-features 3.40.0, by the W3C's WebDX community group, Apache licence 2.0.

Node: a feature of browsers that is in a group. Text: name and description. Edge: two features are
defined by the same specification, one of at most sixty features. Class: the group; a group within
another counts as the outermost.

Kinds: many classes, most of them of under twenty nodes; edges from shared attributes; high
homophily.

Known weaknesses: a feature in several groups counts for the first. "CSS" has a third of the nodes
and most of its features say so; HTML, the DOM and JavaScript have too many features for an edge, as
each of them has one specification.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict

from graphs.sources import Made, npm, sharing

MOST = 60
FEWEST = 3


def build() -> Made:
    """Read the features and return those in a group."""
    file = npm("web-features@3.40.0") / "package/data.json"
    data = json.loads(file.read_text(encoding="utf-8"))
    groups = data["groups"]
    features = {}
    labels = {}
    for own, feature in sorted(data["features"].items()):
        if feature["kind"] == "feature" and feature.get("group"):
            group = _list(feature["group"])[0]
            while "parent" in groups[group]:
                group = groups[group]["parent"]
            features[own], labels[own] = feature, str(groups[group]["name"])
    sizes = Counter(labels.values())
    ids = [own for own in features if sizes[labels[own]] >= FEWEST]
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for own in ids:
        for address in {link.partition("#")[0] for link in _list(features[own]["spec"])}:
            holders[address].append(own)
    texts = [f"{features[own]['name']}: {features[own]['description']}" for own in ids]
    return Made(ids, texts, [labels[own] for own in ids], sharing(holders, MOST))


def _list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value

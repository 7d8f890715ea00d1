"""Types of files and messages on the Internet, joined by what their names have in common.

Source: the npm package mime-db 1.54.0, MIT licence: the registry of media types at IANA, with types
that Apache and nginx know.

Node: a media type, such as "application/pdf". Text: the part behind the slash, with spaces for
dots, pluses and hyphens, and extensions of files where there are some. Edge: the names have a word
in common, which at most twenty names have, or the types an extension. Class: the part before the
slash; those of fewer than six types are left out.

Kinds: one class over half of the nodes; texts of one to four words; classes of under twenty nodes;
edges from co-occurrence.

Known weaknesses: "application" is what is nothing else, and what its makers wanted. Names of codecs
and vendors say little to those who do not know them.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

from graphs.sources import Made, npm, sharing

MOST = 20
FEWEST = 6


def build() -> Made:
    """Read the types; the words of a name are what dots, pluses and hyphens leave."""
    every = json.loads((npm("mime-db@1.54.0") / "package/db.json").read_text(encoding="utf-8"))
    sizes = Counter(own.partition("/")[0] for own in every)
    ids = [own for own in sorted(every) if sizes[own.partition("/")[0]] >= FEWEST]
    texts: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for own in ids:
        words = re.split(r"[.+_-]+", own.partition("/")[2])
        extensions = every[own].get("extensions", [])
        texts.append(" ".join((*words, *(each for each in extensions if each not in words))))
        for word in {*words, *(f".{each}" for each in extensions)}:
            holders[word].append(own)
    labels = [own.partition("/")[0].capitalize() for own in ids]
    return Made(ids, texts, labels, sharing(holders, MOST))

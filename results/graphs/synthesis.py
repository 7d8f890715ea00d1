"""The help of SuperCollider, a language for synthesis of sound.

Source: the Debian package supercollider-common 3.13.0, GPL version 3 or later; the help files are
under the Creative Commons licence Attribution-ShareAlike 3.0.

Node: a help file. Text: its summary and description, up to 80 words. Edge, directed: the file lists
the other as related, or links to it in its text. Class: the first category of the file, by its
first part, and by two parts for unit generators ("UGens"), which are half of all.

Kinds: directed edges; edges from links; classes in jargon.

Known weaknesses: categories overlap (a tutorial on patterns is a tutorial). Files of categories
with fewer than eight are left out. Some texts are one line.
"""

from __future__ import annotations

import re
from collections import Counter

from graphs.sources import Made, debian, start

WORDS = 80
FEWEST = 8
HEAD = re.compile(r"^(summary|categor(?:y|ies)|related)::(.*)$", re.IGNORECASE | re.MULTILINE)
BODY = re.compile(
    r"^(?:description|section)::(.*?)(?=^(?:(?:class|instance)methods|examples|\w*section)::|\Z)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
MARK = re.compile(r"\b(?:code|emphasis|strong|list|\w*subsection|\w*note|table|warning)::|::|##")
LINK = re.compile(r"link::([^:#]+?)(?:#[^:]*)?::")


def build() -> Made:
    """Read the help files and return those of the larger categories."""
    folder = debian("supercollider-common") / "usr/share/SuperCollider/HelpSource"
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    every: set[tuple[str, str]] = set()
    for file in sorted(folder.rglob("*.schelp")):
        said = file.read_text(encoding="utf-8", errors="replace")
        own = str(file.relative_to(folder).with_suffix(""))
        head = {name.lower()[:8]: value.strip() for name, value in HEAD.findall(said)}
        category = [part.strip() for part in (head.get("categori") or "").split(",")[0].split(">")]
        body = " ".join(BODY.findall(said)[:1])
        texts[own] = start(_plain(f"{head.get('summary', '').rstrip('.')}. {body}"), WORDS)
        labels[own] = ": ".join(category[: 2 if category[0] == "UGens" else 1])
        linked = {name.strip() for name in head.get("related", "").split(",")}
        every |= {(own, other) for other in linked | set(LINK.findall(said)) if other != own}
    sizes = Counter(labels.values())
    ids = [own for own in texts if labels[own] and sizes[labels[own]] >= FEWEST]
    kept = set(ids)
    edges = sorted(edge for edge in every if kept.issuperset(edge))
    return Made(ids, [texts[own] for own in ids], [labels[own] for own in ids], edges, True)


def _plain(said: str) -> str:
    """Return a text without its marks: "link::Classes/SinOsc::" is "SinOsc"."""
    said = re.sub(r"^code::\s*$.*?^::", "", said, flags=re.M | re.S)  # examples
    said = LINK.sub(lambda found: found[1].rpartition("/")[2], said)
    return MARK.sub("", said)

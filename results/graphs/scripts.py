"""Scripts of the network scanner Nmap, joined by the protocol libraries that they load.

Source: the Debian package nmap-common 7.93, under the licence of Nmap (its own, based on the GPL).

Node: a script. Text: its description, up to 80 words. Edge: both load the same library, one of at
most forty scripts. Class: the category that says most about what a script is for, the first in the
order of `CATEGORIES` where a script names several; scripts that are merely safe, intrusive or run
by default are left out.

Kinds: heterophilous: a library stands for a protocol, a category for a purpose; edges from needs
and dependencies; classes of under twenty nodes.

Known weaknesses: two thirds of the scripts name several categories, and the choice among them is
ours. What checks for a vulnerability may exploit it.
"""

from __future__ import annotations

import re
from collections import defaultdict

from graphs.sources import Made, debian, sharing, start

CATEGORIES = {
    "malware": "Malware",
    "dos": "Denial of service",
    "exploit": "Exploits",
    "brute": "Password guessing",
    "vuln": "Vulnerability checks",
    "broadcast": "Broadcast discovery",
    "auth": "Authentication",
    "version": "Version detection",
    "external": "External services",
    "discovery": "Discovery",
}
WORDS = 80
MOST = 40
NAMED = re.compile(r"^categories\s*=\s*\{(.*?)\}", re.MULTILINE | re.DOTALL)
ABOUT = re.compile(r"^description\s*=\s*\[\[(.*?)\]\]", re.MULTILINE | re.DOTALL)
LIBRARY = re.compile(r"\brequire\s*\(?\s*[\"']([\w.]+)")


def build() -> Made:
    """Read the scripts as text; none is run."""
    folder = debian("nmap-common") / "usr/share/nmap/scripts"
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(folder.glob("*.nse")):
        said = file.read_text(encoding="utf-8", errors="replace")
        about, named = ABOUT.search(said), NAMED.search(said)
        tags = set(re.findall(r"\w+", named[1])) if named else set()
        label = next((name for tag, name in CATEGORIES.items() if tag in tags), None)
        if about and label:
            texts[file.stem] = start(re.sub(r"</?\w+>", "", about[1]), WORDS)
            labels[file.stem] = label
            for library in LIBRARY.findall(said):
                holders[library].append(file.stem)
    return Made(list(texts), list(texts.values()), list(labels.values()), sharing(holders, MOST))

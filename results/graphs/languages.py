"""Computer languages and file formats, joined by how editors treat them.

Source: the npm package linguist-languages 9.5.0, MIT licence: the languages that GitHub's Linguist
tells apart.

Node: a language. Text: its name, other names and special file names. Edge: two languages share a
file extension, an interpreter, a grammar or a mode of an editor, one of at most fifty. Class: the
type that Linguist gives it.

Kinds: one class over half of the nodes; texts of few words; edges from shared attributes.

Known weaknesses: whether a language is for programs or for data is not always in its name.
"""

from __future__ import annotations

import re
from collections import defaultdict

from graphs.sources import Made, npm, sharing

TYPES = {
    "data": "Data formats",
    "markup": "Markup languages",
    "programming": "Programming languages",
    "prose": "Prose",
}
MOST = 50
TOLD = ("name", "aliases", "filenames")
SHARED = ("extensions", "interpreters", "tmScope", "aceMode", "codemirrorMode", "group")
IGNORED = {"text", "none", ""}  # values that stand for no mode or grammar


def build() -> Made:
    """Read one file a language."""
    folder = npm("linguist-languages@9.5.0") / "package/data"
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(folder.glob("*.d.ts")):
        said = file.read_text(encoding="utf-8")
        fields = {
            name: [one or other for one, other in re.findall(r"""'([^']*)'|"([^"]*)\"""", value)]
            for name, value in re.findall(r"readonly (\w+): ((?:readonly \[[^\]]*\])|[^\n]*)", said)
        }
        ids.append(file.name.removesuffix(".d.ts"))
        told = [name for field in TOLD for name in fields.get(field, ())]
        texts.append(", ".join(dict.fromkeys(told)))
        labels.append(TYPES[fields["type"][0]])
        for field in SHARED:
            for value in set(fields.get(field, ())) - IGNORED:
                holders[f"{field} {value}"].append(ids[-1])
    return Made(ids, texts, labels, sharing(holders, MOST))

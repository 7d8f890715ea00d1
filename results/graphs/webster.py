"""Words of Webster's dictionary by the field of knowledge that the dictionary marks them with.

From the Debian package `dict-gcide`: the GNU version of the Collaborative International Dictionary
of English, that is Webster's Revised Unabridged Dictionary of 1913 with additions; GNU GPL, version
2 or later, as its copyright file says.

- Node: a sense of a word that begins with the mark of a field, as "(Bot.)".
- Text: the headword and the definition of that sense, without marks, origin, quotations, authors.
- Edge: a word in braces in that sense and the notes to it ("See {Chebacco}", "Same as {X}", "called
  also {X}"), where that word is a headword with a node; references in the origin do not count.
- Class: the field. Marks of close fields are one class, as (Law), (Eng. Law) and (Scots Law).
  Zoology is left out: it would be two fifths of the nodes.

Known weaknesses: nearly half of the nodes are of botany and chemistry. The language is that of 1913
and before. Some texts say no more than "See X". A reference leads to the first node of a headword,
maybe not in the sense that was meant. There are more than 6,000 such senses; those with most edges
stay, then any by a checksum. Edges are few, and a fifth of the nodes has none.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter

from graphs.sources import Made, debian

MOST = 6000
FIELDS = {
    "Botany": ["Bot.", "Botany"],
    "Chemistry": ["Chem.", "Old Chem."],
    "Medicine and surgery": ["Med.", "Surg."],
    "Anatomy": ["Anat."],
    "Seafaring and ships": ["Naut.", "Shipbuilding"],
    "Law": ["Law", "Eng. Law", "O. Eng. Law", "Scots Law", "Civ. Law", "Rom. Law"],
    "Mineralogy": ["Min."],
    "Music": ["Mus.", "Music"],
    "Architecture": ["Arch."],
    "Military affairs": ["Mil.", "Fort.", "Gun."],
    "Mathematics": ["Math.", "Geom.", "Alg.", "Arith.", "Trig."],
    "Astronomy": ["Astron."],
    "Church and theology": ["Eccl.", "R. C. Ch.", "Eccl. Hist.", "Theol.", "Ch. of Eng."],
    "Grammar and rhetoric": ["Gram.", "Rhet.", "Pros.", "Phon."],
}
FIELD_OF = {mark: field for field, marks in FIELDS.items() for mark in marks}
MARK = re.compile(r"\((" + "|".join(map(re.escape, FIELD_OF)) + r")\),?")


def build() -> Made:
    """Read the entries from the letter A on and link the senses that have a field."""
    path = debian("dict-gcide") / "usr" / "share" / "dictd" / "gcide.dict.dz"
    with gzip.open(path, "rt", encoding="utf-8", errors="replace") as file:
        entries = re.split(r"\n\n(?=\S)", file.read().partition("\nA \\A\\")[2])
    nodes: dict[str, tuple[str, str, str]] = {}  # id: text, class, sense with its braces
    used: Counter[str] = Counter()
    named: dict[str, str] = {}  # headword in small letters: id of the first such node
    for entry in entries:
        # A name is before each pronunciation, which is between backslashes; long ones are slips.
        parts = _plain(entry).split("\\")
        names = [" ".join(part.strip(" ,;\n").split()) for part in parts[:-1:2]]
        names = [name for name in names if 0 < len(name) < 40]
        for field, sense in _senses(parts[-1]) if names else []:
            node = names[0] + "'" * used[names[0]]  # "Bass", "Bass'": another sense
            used[names[0]] += 1
            nodes[node] = (f"{names[0]}. {_clean(sense)}", field, sense)
            for name in names:
                named.setdefault(name.lower(), node)
    edges = set()
    for node, (_, _, sense) in nodes.items():
        for word in re.findall(r"\{([^{}]+)\}", sense):
            other = named.get(" ".join(word.lower().split()), node)
            if other.rstrip("'") != node.rstrip("'"):
                edges.add((min(node, other), max(node, other)))
    degree = Counter(node for edge in edges for node in edge)
    # Equal ones by a checksum: in the order of the alphabet the late letters would be missing.
    kept = set(sorted(nodes, key=lambda n: (-degree[n], zlib.crc32(n.encode()), n))[:MOST])
    ids = [node for node in nodes if node in kept]
    texts, labels, _ = map(list, zip(*(nodes[node] for node in ids), strict=True))
    return Made(ids, texts, labels, sorted(edge for edge in edges if kept.issuperset(edge)))


def _plain(entry: str) -> str:
    """Write letters with accents plainly, and take out all else in brackets, as the origin."""
    # With the name of a source goes what is after it, a word of the head of a page.
    entry = re.sub(r"\[(?:1913 Webster|Webster 1913 Suppl\.)\][^\n]*", "", entry)
    entry = re.sub(r"\[[^\w\s\[\]]{0,2}([A-Za-z]{1,2})\^?\]", r"\1", entry)
    for _ in range(4):  # brackets in brackets, the inner ones first
        entry = re.sub(r"\[[^\[\]]*\]", "", entry)
    return entry


def _senses(rest: str) -> list[tuple[str, str]]:
    """Return the field and the text of each sense that begins with the mark of a field."""
    found, carried = [], ""
    for number, sense in enumerate(re.split(r"\n\s+\d{1,2}\. ", rest)):
        mark = MARK.search(sense) if number == 0 else MARK.match(sense)
        # Before a first mark are only the part of speech and forms: "n.; pl. {Patagia}.".
        ahead = re.sub(r"\([^()]*\)|\{[^{}]*\}", "", sense[: mark.start()] if mark else "").split()
        headed = all(re.fullmatch(r"[\w.]{0,5}[.,;]+|&|or|and", word) for word in ahead)
        if not headed or (not mark and re.match(r"\([A-Z]", sense)):  # a field that is no class
            continue
        field, sense = (FIELD_OF[mark[1]], sense[mark.end() :]) if mark else (carried, sense)
        if number == 0 and not sense.strip():
            carried = field  # a mark before "1." is for all senses
        elif field:
            # After it, from a paragraph with a brace on, there are phrases with the word.
            found.append((field, re.sub(r"\n\s*\n\s*\{(?s:.)*", "", sense)))
    return found


def _clean(sense: str) -> str:
    """Return the definition, the first paragraph of a sense, as prose of at most 150 words."""
    text = " ".join(re.split(r"\n\s*\n", sense.strip())[0].split())
    text = re.sub(r"\((?:[A-Z][a-z]*\. ?(?:& )?)+\),?", "", MARK.sub("", text))
    text = re.sub(r"^1\. |\([a-z]\) |[{}]", "", text)
    # Words made from this one, and the authors of quotations.
    text = re.sub(r" -- [A-Z][a-z]*[`*\"].*|(?:\s--[A-Z][\w .,'&()]*)+$", "", text)
    text = re.sub(r" --(?:(?:[A-Z]|Sir|Bp|Dr|Abp|St)\.? )*[A-Z][\w']*\.?", "", text)
    return " ".join(text.split()[:145]).strip(" ,;")

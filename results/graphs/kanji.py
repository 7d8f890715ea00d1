"""Chinese characters in Japanese writing: what they mean, joined by the words they form.

Source: the Debian packages kanjidic (2022.08.23) and edict (2021.02.03), the dictionaries KANJIDIC
and EDICT of the Electronic Dictionary Research and Development Group, under the Creative Commons
licence Attribution-ShareAlike 3.0.

Node: a character that has a grade, that is one taught at school or allowed in names, of a radical
with twenty such characters or more. Text: its first two meanings in English. Edge: the two
characters make up a word that EDICT marks as common. Class: the classical radical, the part of the
character under which dictionaries list it, by the plain name of what it depicts.

Kinds: heterophilous; edges from co-occurrence; weak text; a third of the nodes isolated.

Known weaknesses: a radical hints at the meaning of many characters (water, tree, hand) but only at
the sound or the shape of others, so that a large part of the classes cannot be known from the text.
Some names of radicals are close to each other (cloth and clothes, roof and cliff house). A word
joins characters of the same radical twice to three times as often as chance would. Fifty characters
share their text with another.
"""

from __future__ import annotations

import re
from collections import Counter

from graphs.sources import Made, debian

RADICALS = {  # number of a classical radical: what it depicts
    9: "Person",
    18: "Knife",
    19: "Strength",
    30: "Mouth",
    32: "Earth",
    37: "Big",
    38: "Woman",
    40: "Roof",
    46: "Mountain",
    50: "Cloth",
    53: "Cliff house",
    60: "Step",
    61: "Heart",
    64: "Hand",
    72: "Sun",
    75: "Tree",
    85: "Water",
    86: "Fire",
    94: "Dog",
    96: "Jade",
    102: "Rice field",
    109: "Eye",
    112: "Stone",
    113: "Altar",
    115: "Grain",
    118: "Bamboo",
    120: "Thread",
    130: "Flesh",
    140: "Grass",
    145: "Clothes",
    149: "Speech",
    154: "Shell",
    159: "Cart",
    162: "Walking",
    164: "Wine jar",
    167: "Metal",
    170: "Hill",
    181: "Head",
}
FEWEST = 20
MEANINGS = 2


def build() -> Made:
    """Read both dictionaries and return the characters."""
    listed = debian("kanjidic") / "usr" / "share" / "edict" / "kanjidic"
    radical: dict[str, int] = {}
    texts: dict[str, str] = {}
    for line in listed.read_text(encoding="euc-jp").splitlines()[1:]:
        # The radical of one modern dictionary (B), and the classical one (C) where it differs.
        found = re.search(r" C(\d+) ", line) or re.search(r" B(\d+) ", line)
        meanings = re.findall(r"\{((?!\(kokuji\))[^}]*)\}", line)
        meanings = [said for said in meanings if "radical" not in said]
        if found and meanings and re.search(r" G\d+ ", line):
            radical[line[0]] = int(found[1])
            texts[line[0]] = ", ".join(meanings[:MEANINGS])
    sizes = Counter(radical.values())
    ids = [character for character in texts if sizes[radical[character]] >= FEWEST]
    labels = [RADICALS[radical[character]] for character in ids]
    kept, edges = set(ids), set[tuple[str, str]]()
    words = debian("edict") / "usr" / "share" / "edict" / "edict"
    # A few characters stand outside the encoding; their words are left out with them.
    for line in words.read_bytes().decode("euc-jp", errors="replace").splitlines():
        word = line.split(" ", 1)[0]
        if "/(P)/" in line and len(word) == 2 and kept.issuperset(word) and word[0] != word[1]:
            edges.add((min(word), max(word)))
    return Made(ids, [texts[character] for character in ids], labels, sorted(edges))

"""German technical terms, joined when one English word translates both.

Source: the Debian package trans-de-en 1.9, the German-English word list of the Technical University
of Chemnitz (the state of 2023-01-30), GPL version 2 or later.

Node: the headword of an entry, a noun with exactly one mark of a subject. Text: the German side of
the headword with its synonyms and explanations, without marks of grammar, usage and subject. Edge:
one English word is given as translation of both; phrases give no edge, and the English side is no
part of any text. Class: the mark of the subject, as it stands in the list.

Kinds: class names that are abbreviations; rather heterophilous (two translations of one word are
mostly of two subjects); weak text (median of two words); uneven class sizes.

Known weaknesses: only terms with an edge are kept, as those without are nine in ten, so that
compounds and names of species are rare here. Subjects overlap: what is marked "techn." may as well
be "mach." or "constr.", "adm." as well be "pol." or "jur.". Synonyms inside one subject are mostly
in one entry already and give no edge.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import combinations

from graphs.sources import Made, debian

# Marks of usage and region ("ugs.", "Schw.") stand in the same brackets.
SUBJECT = re.compile(
    r"\[((?:adm|agr|anat|arch|astron|aviat|biochem|biol|bot|chem|comp|constr|cook|econ|electr|envir"
    r"|fin|geogr|geol|hist|jur|ling|lit|mach|math|med|meteo|mil|min|mus|naut|ornith|pharm|phil"
    r"|photo|phys|pol|psych|relig|soc|statist|stud|techn|telco|textil|transp|zool)\.)\]"
)
MARKS = re.compile(r"\[[^\]]*\]|\{[^}]*\}|<[^>]*>")
MOST = 20  # entries of an English word; a word of more says little
FEWEST = 25


def build() -> Made:
    """Read the word list and return the terms that share a translation with another."""
    listed = debian("trans-de-en") / "usr" / "share" / "trans" / "de-en"
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    users: defaultdict[str, list[str]] = defaultdict(list)
    for number, line in enumerate(listed.read_text(encoding="utf-8").splitlines()):
        if line.startswith("#") or "::" not in line:
            continue
        # headword | compounds and phrases :: the same in English
        german, english = (side.split("|")[0] for side in line.split("::", 1))
        marked = set(SUBJECT.findall(german))
        text = " ".join(MARKS.sub(" ", german).replace(" ;", ";").split())
        text = re.sub(r"\s+([;,)])", r"\1", text)
        if len(marked) != 1 or not text or not re.search(r"\{(?:m|f|n|pl)\}", german):
            continue
        own = str(number)
        texts[own], labels[own] = text, marked.pop()
        plain = re.sub(r"\([^)]*\)", " ", MARKS.sub(" ", english))
        for word in sorted({" ".join(said.split()) for said in plain.split(";")} - {""}):
            if " " not in word:
                users[word].append(own)
    every = {
        pair
        for sharing in users.values()
        if len(sharing) <= MOST
        for pair in combinations(sharing, 2)
    }
    joined = {end for pair in every for end in pair}
    sizes = Counter(labels[own] for own in joined)
    ids = [own for own in texts if own in joined and sizes[labels[own]] >= FEWEST]
    kept = set(ids)
    edges = sorted(pair for pair in every if kept.issuperset(pair))
    return Made(ids, [texts[own] for own in ids], [labels[own] for own in ids], edges)

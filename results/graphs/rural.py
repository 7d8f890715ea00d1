"""Articles of the French code of agriculture and sea fishing, joined by references.

Source: the npm package @socialgouv/legi-data 2.513.0, Apache licence 2.0 (some 150 megabytes when
unpacked); the code is that of the official database LEGI, under the open licence of the French
state (Licence Ouverte 2.0).

Node: an article of the part made by decree ("Partie réglementaire") that is in force. Text, in
French: the article, up to 100 words. Edge, directed: the article refers to the other by its number.
Class: the book of the code, one of nine.

Kinds: a law; texts of about 100 words in another language than English, class names in French too;
directed edges; homophilous.

Known weaknesses: references to ranges ("articles R. 311-1 à R. 311-5") give their ends only. Books
on animals and on markets both treat food, and procedures of offices are alike in all books.
"""

from __future__ import annotations

import json
import re
from typing import Any

from graphs.sources import Made, npm, start

PART = "Partie réglementaire"
NAMES = {  # of books by their number
    "Ier": "Aménagement et équipement de l'espace rural",
    "II": "Alimentation, santé publique vétérinaire et protection des végétaux",
    "III": "Exploitation agricole",
    "IV": "Baux ruraux",
    "V": "Organismes professionnels agricoles",
    "VI": "Production et marchés",
    "VII": "Dispositions sociales",
    "VIII": "Enseignement, formation professionnelle et développement agricoles, "
    "recherche agronomique",
    "IX": "Pêche maritime et aquaculture marine",
}
WORDS = 100
NUMBER = re.compile(r"\b([RD])\. ?\*{0,2}(\d+(?:-\d+)+)")


def build() -> Made:
    """Read the code, a tree of sections."""
    file = npm("@socialgouv/legi-data@2.513.0") / "package/data/LEGITEXT000022197698.json"
    code = json.loads(file.read_text(encoding="utf-8"))
    (part,) = (found for found in code["children"] if found["data"]["title"].strip() == PART)
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    every: set[tuple[str, str]] = set()
    for book in part["children"]:
        for article in _articles(book):
            own, said = article["num"].replace("*", ""), article["texte"] or ""
            if article["etat"] == "VIGUEUR" and said and own not in texts:
                texts[own] = start(said, WORDS)
                labels[own] = NAMES[book["data"]["title"].split()[1]]
                every |= {(own, "".join(found)) for found in NUMBER.findall(said)}
    edges = sorted(edge for edge in every if edge[0] != edge[1] and edge[1] in texts)
    return Made(list(texts), list(texts.values()), list(labels.values()), edges, directed=True)


def _articles(section: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the articles of a section and of those within it, in order."""
    found: list[dict[str, Any]] = []
    for child in section.get("children", []):
        found += [child["data"]] if child["type"] == "article" else _articles(child)
    return found

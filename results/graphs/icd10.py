"""Categories of the ICD-10-CM, the classification of diagnoses used in the United States.

Source: the Python package simple-icd-10-cm 1.5.0, which states the MIT licence for itself and says
that its data, the release of April 2026, were taken from the website of the Centers for Disease
Control and Prevention; it states no other licence for the data.

Node: a category of three characters. Text: its description, what it includes and the descriptions
of its direct subcategories, up to sixty words; pieces that hold a code or say how to code are left
out. Edge: a category named by its code in parentheses in a note of another category or of one of
its subcategories ("excludes 1", "excludes 2", "code first", "use additional code", "code also").
Class: the chapter, by a short plain name.

Known weaknesses: the six smallest of the twenty-two chapters are left out (codes for special
purposes; ear; blood; eye; the perinatal period; the respiratory system). A range of categories
gives no edge, nor does a note of a whole chapter or section, nor a code outside parentheses. Many
descriptions name the organ and so give away the chapter, others ("Other disorders of ...") say
little more than that, and the categories of accidents repeat each other and have few edges.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from graphs.sources import Made, pip

CHAPTERS = {  # number of a chapter: its name in plain words
    "1": "Infectious and parasitic diseases",
    "2": "Cancers and other neoplasms",
    "4": "Endocrine, nutritional and metabolic diseases",
    "5": "Mental, behavioral and neurodevelopmental disorders",
    "6": "Diseases of the nervous system",
    "9": "Diseases of the circulatory system",
    "11": "Diseases of the digestive system",
    "12": "Diseases of the skin",
    "13": "Diseases of the musculoskeletal system and connective tissue",
    "14": "Diseases of the genitourinary system",
    "15": "Pregnancy, childbirth and the puerperium",
    "17": "Congenital malformations and chromosomal abnormalities",
    "18": "Symptoms, signs and abnormal findings",
    "19": "Injury and poisoning",
    "20": "External causes of injury and illness",
    "21": "Health status and contact with health services",
}
REFERRING = ("excludes1", "excludes2", "codeFirst", "useAdditionalCode", "codeAlso")
WORDS = 60
# A code such as E10, S06.A- or C7A.0, alone or as the start of a range; groups hold the categories.
# A dash that closes a code ("E10.-") must not be taken for the dash of a range ("E08-E13").
CODE = r"\b([A-Z][0-9A-Z]{2})(?:\.[0-9A-Z]*)?(?:-(?![A-Z0-9]))?(?![0-9A-Za-z])"
RANGE = re.compile(CODE + r"(?:\s*-\s*" + CODE + ")?")
# Notes on how to code say nothing about the disease.
ON_CODING = re.compile(r"\b(?:code|codes|coded|category|categories|chapter)\b", re.IGNORECASE)


def build() -> Made:
    """Read the tabular list and return its categories."""
    (tabular,) = pip("simple-icd-10-cm==1.5.0").glob("*/data/*.xml")
    found: dict[str, ElementTree.Element] = {}
    named: dict[str, str] = {}
    for chapter in ElementTree.parse(tabular).getroot().iterfind("chapter"):
        number = chapter.findtext("name", "")
        for category in chapter.iterfind("section/diag"):
            if number in CHAPTERS:
                found[category.findtext("name", "")] = category
                named[category.findtext("name", "")] = CHAPTERS[number]
    edges: set[tuple[str, str]] = set()
    for code, category in found.items():
        for other in _named(category):
            if other in found and other != code:
                edges.add((min(code, other), max(code, other)))
    texts = [_text(category) for category in found.values()]
    return Made(list(found), texts, list(named.values()), sorted(edges))


def _named(category: ElementTree.Element) -> set[str]:
    """Return the categories that the notes of a category and of its subcategories name."""
    others: set[str] = set()
    for kind in REFERRING:
        for note in category.iterfind(f".//{kind}/note"):
            for inside in re.findall(r"\(([^()]*)\)", note.text or ""):
                # A range within one category names that category; a wider one names none.
                others |= {a for a, b in RANGE.findall(inside) if b in ("", a)}
    return others


def _text(category: ElementTree.Element) -> str:
    """Join description, inclusions and subcategories, whole pieces only, until the words are up."""
    pieces = [category.findtext("desc", "")]
    for kind in ("includes", "inclusionTerm"):
        pieces += [note.text or "" for note in category.iterfind(f"{kind}/note")]
    pieces += [sub.findtext("desc", "") for sub in category.iterfind("diag")]
    kept: list[str] = []
    for piece in pieces:
        clean = " ".join(piece.split()).rstrip(".:;,")
        coded = ON_CODING.search(clean) or re.search(r"\b[A-Z]\d[0-9A-Z](?:[.-]|\b)", clean)
        if kept and (coded or clean in kept):
            continue
        if kept and len(" ".join([*kept, clean]).split()) > WORDS:
            break
        kept.append(clean)
    return ". ".join(piece[:1].upper() + piece[1:] for piece in kept) + "."

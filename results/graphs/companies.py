"""Listed companies, joined when they have their headquarters in the same town.

Source: the Python package pytickersymbols 1.17.10, MIT licence; the data were taken from Wikipedia,
which is under the Creative Commons licence Attribution-ShareAlike 4.0.

Node: a company of a stock index that the source gives exactly one sector of the Global Industry
Classification Standard. Text: its name, and its products where they are listed. Edge: two companies
have their headquarters in the same town. Class: the sector.

Kinds: heterophilous, little more than by chance; edges from shared attributes; half of the texts
are a name of one to four words.

Known weaknesses: a name may say nothing about the business. The sectors stand in a list with other
labels and were given by the editors of many lists.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from typing import Any

from graphs.sources import Made, pip, sharing, start

SECTORS = {
    *("Communication Services", "Consumer Discretionary", "Consumer Staples", "Energy"),
    *("Financials", "Health Care", "Industrials", "Information Technology", "Materials"),
    *("Real Estate", "Utilities"),
}
WORDS = 40
MOST = 60


def build() -> Made:
    """Read the companies of all indices; the data are one Python literal, which is not run."""
    file = pip("pytickersymbols==1.17.10") / "pytickersymbols/indices_data.py"
    said = file.read_text(encoding="utf-8")
    indices = ast.literal_eval(said[said.index("{") : said.rindex("}") + 1])
    companies: dict[str, dict[str, Any]] = {}
    for index in indices.values():
        for company in index["companies"]:
            if len(SECTORS.intersection(company.get("industries") or ())) == 1:
                companies.setdefault(" ".join(company["name"].split()), company)
    holders: defaultdict[str, list[str]] = defaultdict(list)
    texts: list[str] = []
    ids = sorted(companies)
    for own in ids:
        about = companies[own].get("metadata") or {}
        texts.append(start(f"{own.rstrip('.')}. {about.get('products', '')}", WORDS).rstrip(". "))
        # "New York City, New York , U.S.": the town and what follows it
        town = re.split(r" *, *", about.get("headquarters") or "")
        if len(town) > 1:
            holders[f"{town[0].removesuffix(' City')} {town[-1]}"].append(own)
    labels = [min(SECTORS.intersection(companies[own]["industries"])) for own in ids]
    return Made(ids, texts, labels, sharing(holders, MOST))

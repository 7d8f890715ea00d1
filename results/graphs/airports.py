"""Airports of the United States, by state, joined by flights.

Source: the npm package vega-datasets 3.2.1, BSD 3-clause licence for the package: its tables of
airports and of flights between them in the year 2008, from the Bureau of Transportation Statistics
of the United States, a public agency whose data are in the public domain.

Node: an airport with a flight. Text: name of the airport and of the city it serves. Edge: at least
one flight from one to the other, either way. Class: state or territory.

Kinds: over fifty classes, nearly all of under twenty nodes; texts of two to five words; a small
and dense graph with few edges within a class.

Known weaknesses: some classes have a single airport. Airlines fly to hubs far away, so edges say
more about the size of an airport than about the place. To know the class from the text is
knowledge of geography.
"""

from __future__ import annotations

import csv

from graphs.sources import Made, npm

STATES = {
    "AK": "Alaska",
    "AL": "Alabama",
    "AR": "Arkansas",
    "AS": "American Samoa",
    "AZ": "Arizona",
    "CA": "California",
    "CO": "Colorado",
    "CQ": "Northern Mariana Islands",
    "CT": "Connecticut",
    "DC": "District of Columbia",
    "DE": "Delaware",
    "FL": "Florida",
    "GA": "Georgia",
    "GU": "Guam",
    "HI": "Hawaii",
    "IA": "Iowa",
    "ID": "Idaho",
    "IL": "Illinois",
    "IN": "Indiana",
    "KS": "Kansas",
    "KY": "Kentucky",
    "LA": "Louisiana",
    "MA": "Massachusetts",
    "MD": "Maryland",
    "ME": "Maine",
    "MI": "Michigan",
    "MN": "Minnesota",
    "MO": "Missouri",
    "MS": "Mississippi",
    "MT": "Montana",
    "NC": "North Carolina",
    "ND": "North Dakota",
    "NE": "Nebraska",
    "NH": "New Hampshire",
    "NJ": "New Jersey",
    "NM": "New Mexico",
    "NV": "Nevada",
    "NY": "New York",
    "OH": "Ohio",
    "OK": "Oklahoma",
    "OR": "Oregon",
    "PA": "Pennsylvania",
    "PR": "Puerto Rico",
    "RI": "Rhode Island",
    "SC": "South Carolina",
    "SD": "South Dakota",
    "TN": "Tennessee",
    "TX": "Texas",
    "UT": "Utah",
    "VA": "Virginia",
    "VI": "Virgin Islands",
    "VT": "Vermont",
    "WA": "Washington State",
    "WI": "Wisconsin",
    "WV": "West Virginia",
    "WY": "Wyoming",
}


def build() -> Made:
    """Read both tables and return the airports with a flight."""
    folder = npm("vega-datasets@3.2.1") / "package/data"
    with (folder / "airports.csv").open(encoding="utf-8", newline="") as table:
        found = {row["iata"]: row for row in csv.DictReader(table) if row["state"] in STATES}
    with (folder / "flights-airport.csv").open(encoding="utf-8", newline="") as table:
        ends = {(row["origin"], row["destination"]) for row in csv.DictReader(table)}
    edges = sorted({(min(e), max(e)) for e in ends if e[0] != e[1] and found.keys() >= set(e)})
    ids = sorted({end for edge in edges for end in edge})
    texts = [f"{found[own]['name'].strip()}, {found[own]['city'].strip()}" for own in ids]
    return Made(ids, texts, [STATES[found[own]["state"]] for own in ids], edges)

"""Printers by their models, joined when they work with the same driver.

Source: the Debian package foomatic-db 20230202, GPL version 2 or later and MIT licence: the
database of OpenPrinting.

Node: a printer of a maker with ten or more. Text: the name of its model, without that of the maker.
Edge: both work with the same driver, one of at most 120 printers. Class: the maker.

Kinds: texts of one to four words; names of products; dense, and half of the nodes isolated;
homophilous; classes of under twenty nodes; edges from shared attributes.

Known weaknesses: a fifth of the nodes have a name that several makers use, since some sell the
same devices, and many names are little more than a number. Drivers for the files of one maker join
printers of that maker only, and printers that nobody has reported on have none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from xml.etree import ElementTree

from graphs.sources import Made, debian, sharing

MOST = 120
FEWEST = 10
NO_MAKER = "Generic"


def build() -> Made:
    """Read the printers, and the drivers of each."""
    folder = debian("foomatic-db") / "usr/share/foomatic/db/source/printer"
    makers: dict[str, str] = {}
    models: dict[str, str] = {}
    drivers: dict[str, set[str]] = {}
    for file in sorted(folder.glob("*.xml")):
        root = ElementTree.parse(file).getroot()
        makers[file.stem] = " ".join(root.findtext("make", "").split())
        models[file.stem] = " ".join(root.findtext("model", "").split())
        named = {
            (found.findtext("id") or found.text or "").strip() for found in root.iter("driver")
        }
        drivers[file.stem] = named - {""}
    sizes = Counter(makers.values())
    ids = [own for own in makers if sizes[makers[own]] >= FEWEST and makers[own] != NO_MAKER]
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for own in ids:
        for driver in drivers[own]:
            holders[driver].append(own)
    texts = [models[own] for own in ids]
    return Made(ids, texts, [makers[own] for own in ids], sharing(holders, MOST))

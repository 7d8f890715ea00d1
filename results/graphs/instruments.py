"""Musical instruments, joined when they are played in the same kind of music.

Source: the Debian package musescore-common 2.3.2, GPL version 2: the instruments of the notation
program MuseScore.

Node: an instrument. Text: its name, and nothing else. Edge: both are listed for the same kind
of music, as for jazz or for the classroom, of at most eighty instruments. Class: the group of the
program; two groups of four instruments are left out.

Kinds: texts of one to four words; heterophilous; dense; edges from co-occurrence; classes of under
twenty nodes.

Known weaknesses: a band needs instruments of all groups. Names of synthetic sounds and of
instruments from all over the world are rare words. Half of the instruments are listed for no kind
of music, or for a common one only.
"""

from __future__ import annotations

from collections import defaultdict
from xml.etree import ElementTree

from graphs.sources import Made, debian, sharing

GROUPS = {
    "woodwinds": "Woodwinds",
    "free-reed": "Free reed instruments",
    "brass": "Brass",
    "pitched-percussion": "Pitched percussion",
    "unpitched-percussion": "Unpitched percussion",
    "vocals": "Vocals",
    "keyboards": "Keyboards",
    "electronic-instruments": "Electronic instruments",
    "plucked-strings": "Plucked strings",
    "strings": "Bowed strings",
}
MOST = 80


def build() -> Made:
    """Read the instruments of all groups."""
    folder = debian("musescore-common") / "usr/share/mscore-2.3/instruments"
    root = ElementTree.parse(folder / "instruments.xml").getroot()
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for group in root.iter("InstrumentGroup"):
        for found in group.iterfind("Instrument"):
            name = found.findtext("longName") or found.findtext("trackName")
            if group.get("id") not in GROUPS or not name:
                continue
            ids.append(found.get("id", ""))
            texts.append(" ".join(name.split()))
            labels.append(GROUPS[group.get("id", "")])
            for kind in {kind.text or "" for kind in found.iterfind("genre")}:
                holders[kind].append(ids[-1])
    return Made(ids, texts, labels, sharing(holders, MOST))

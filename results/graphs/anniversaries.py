"""Events and holidays of the year, joined when they fall on the same day.

Source: the Debian package calendar 12.1.8, the calendars of 4.4BSD, under the licence of the
University of California (BSD).

Node: an entry of an English calendar with a day and a month. Text: the entry, without the date but
with the year where it has one. Edge: two entries stand on the same day of the year. Class: the
calendar that lists the entry, by a plain name.

Kinds: edges from co-occurrence; heterophilous, and no more than by chance: the day says nothing
about the calendar, so that edges hold next to no information; very uneven class sizes.

Known weaknesses: the calendars overlap (musicians are born in that of births too, inventions stand
in that of history), and a few entries are in two of them, once as a node of each. Days that move
with Easter or the weekday are left out; the calendar of Jewish days is that of one year. The
calendars of developers of operating systems are left out, as they are about private persons.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import combinations

from graphs.sources import Made, debian

CALENDARS = {
    "history": "History",
    "birthday": "Births and deaths of famous people",
    "music": "Music",
    "holiday": "Holidays around the world",
    "computer": "Computing",
    "pagan": "Pagan festivals",
    "judaic.2023": "Jewish calendar",
    "lotr": "The Lord of the Rings",
    "usholiday": "Days of note in the United States",
    "christian": "Christian feasts",
}
FIXED = re.compile(r"(\d\d/\d\d)\*?\t+(\S.*)")


def build() -> Made:
    """Read the calendars and return their entries."""
    folder = debian("calendar") / "usr" / "share" / "calendar"
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    days: defaultdict[str, list[str]] = defaultdict(list)
    for name, label in CALENDARS.items():
        said = (folder / f"calendar.{name}").read_text(encoding="utf-8")
        said = re.sub(r"/\*.*?\*/", "", said, flags=re.DOTALL)  # comments as in C
        said = re.sub(r"\n\t+", " ", said)  # an entry goes on after a tab
        seen: set[tuple[str, str]] = set()
        for found in map(FIXED.fullmatch, said.splitlines()):
            if found is None or (entry := (found[1], " ".join(found[2].split()))) in seen:
                continue
            seen.add(entry)
            ids.append(f"{name} {len(seen)}")
            texts.append(entry[1])
            labels.append(label)
            days[entry[0]].append(ids[-1])
    edges = [pair for day in sorted(days) for pair in combinations(days[day], 2)]
    return Made(ids, texts, labels, edges)

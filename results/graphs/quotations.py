"""Quotations and jokes by topic, joined when they are by the same author.

Source: the Debian packages fortunes and fortunes-min 1:1.99.1, collected for the program fortune
since the 1980s; the collection is under the BSD licence, single sayings are their authors'.

Node: a saying that names its author by two words or more. Text: the saying without the line that
names its author, up to 80 words. Edge: two sayings are by the same author, one of at most forty.
Class: the file, which is the topic that the collectors put it under, by a plain name.

Kinds: half of the nodes isolated; low homophily (an author writes on many topics); a class that is
a mixed remainder; overlapping classes.

Known weaknesses: topics overlap (wisdom, platitudes, people), humour is seldom about what it says.
Files that are no topic (cookies of the day, chats of developers, drawings) or without authors
(riddles, disclaimers) are left out, and so are those on peoples and on men and women, whose jokes
have aged badly.
"""

from __future__ import annotations

import re
from collections import defaultdict

from graphs.sources import Made, debian, sharing, start

TOPICS = {
    "art": "Art and writing",
    "computers": "Computers",
    "definitions": "Humorous definitions and laws",
    "drugs": "Drugs and drink",
    "education": "Education",
    "food": "Food",
    "humorists": "Humorists",
    "kids": "Children",
    "law": "Law",
    "linux": "Linux",
    "literature": "Literature",
    "love": "Love",
    "magic": "Magic",
    "medicine": "Medicine",
    "miscellaneous": "Miscellaneous",
    "news": "News and headlines",
    "people": "People",
    "perl": "Perl",
    "pets": "Pets",
    "platitudes": "Platitudes",
    "politics": "Politics",
    "science": "Science",
    "songs-poems": "Songs and poems",
    "sports": "Sports",
    "startrek": "Star Trek",
    "tao": "Tao Te Ching",
    "wisdom": "Wisdom",
    "work": "Work",
}
WORDS = 80
MOST = 40
SIGNED = re.compile(r"\n\s*-- ")  # what begins the line of the author


def build() -> Made:
    """Read the files and return their sayings."""
    files: dict[str, str] = {}
    for package in ("fortunes", "fortunes-min"):
        folder = debian(package) / "usr/share/games/fortunes"
        for file in folder.iterdir():
            if not file.suffix:
                files[file.name] = file.read_text(encoding="utf-8")
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for topic, label in TOPICS.items():
        for number, saying in enumerate(re.split(r"^%$", files[topic], flags=re.MULTILINE)):
            *said, sign = SIGNED.split(saying)
            text = start(" -- ".join(said), WORDS)
            # "Mark Twain, "Pudd'nhead Wilson"" is Mark Twain
            author = re.split(r'[,("\[\n]', sign)[0].strip(" .").lower()
            if not text or len(author.split()) < 2:
                continue
            ids.append(f"{topic} {number}")
            texts.append(text)
            labels.append(label)
            holders[author].append(ids[-1])
    return Made(ids, texts, labels, sharing(holders, MOST))

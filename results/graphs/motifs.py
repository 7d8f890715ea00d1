"""What pictures show: the subjects of Iconclass, by its divisions (Religion, Nature, Bible ...).

From the PyPI package `iconclass` 0.29, made by H. Brandhorst and E. Posthumus from the data of
iconclass.org, a classification of the content of works of art that is kept since 1972. The file of
the licence in the package is CC0 1.0 Universal; its metadata say MIT.

- Node: a subject of pictures with an English text and a cross-reference to another such subject.
- Text: that English text ("Mars pursuing Adonis", "zip-fastener"), without places in books,
  placeholders and the contexts that name a division. The notation is not in it.
- Edge: a cross-reference of Iconclass from one subject to another; broader and narrower are none.
- Class: the main division. The broadest one, Society, Civilization, Culture, is given as its own
  nine divisions; Abstract Art and History have too few subjects with references and are left out.

Known weaknesses: texts are short, and many are names of persons that need knowledge of stories.
The same story may stand in more than one division (Ovid as literature and as mythology, a saint in
religion and in the Bible), and a reference often says just that. Parts of a story are worded as in
their place in the tree ("parents, ancestors"). Pairs that refer to nothing but each other are left
out, so every node has an edge, but there are few edges a node.
"""

from __future__ import annotations

import re
import zipfile

from graphs.sources import Made, pip

# The notations of the classes; no one is the start of another.
CLASSES = {
    "1": "Religion and magic",
    "2": "Nature",
    "3": "Human being, man in general",
    "41": "Material aspects of daily life",
    "42": "Family and descent",
    "43": "Recreation and amusement",
    "44": "State, law and political life",
    "45": "Warfare and military affairs",
    "46": "Social and economic life, transport and communication",
    "47": "Crafts and industries",
    "48": "Art",
    "49": "Education, science and learning",
    "5": "Abstract ideas and concepts",
    "7": "Bible",
    "8": "Literature",
    "9": "Classical mythology and ancient history",
}
FEWEST = 3  # subjects in a connected part; smaller parts are pairs


def build() -> Made:
    """Read the cross-references of Iconclass and the English texts of their ends."""
    with zipfile.ZipFile(pip("iconclass==0.29") / "iconclass" / "data.zip") as data:
        notations = data.read("notations.txt").decode()
        lines = data.read("txt_en.txt").decode().splitlines()
    texts = {}
    for line in lines:
        notation, _, text = line.partition("|")
        # No nodes: the divisions themselves, which are the classes, and retired notations.
        if _class(notation) and notation not in CLASSES and not re.search(r": Use \d", text):
            texts[notation] = _clean(text)
    near: dict[str, set[str]] = {}
    for one, other in _references(notations):
        if texts.get(one) and texts.get(other) and one != other:
            near.setdefault(one, set()).add(other)
            near.setdefault(other, set()).add(one)
    ids = sorted(node for node in near if len(_part(node, near)) >= FEWEST)
    kept = set(ids)
    return Made(
        ids=ids,
        texts=[texts[node] for node in ids],
        labels=[CLASSES[_class(node)] for node in ids],
        edges=[(a, b) for a in ids for b in sorted(near[a]) if a < b and b in kept],
    )


def _class(notation: str) -> str:
    """Return the notation of the class that a notation is under, or nothing."""
    return next((start for start in CLASSES if notation.startswith(start)), "")


def _references(notations: str) -> list[tuple[str, str]]:
    """Read the records: "N" is the notation, "R" a reference, ";" one more of the field before."""
    found = []
    for record in notations.split("\n$"):
        notation, field = "", ""
        for line in record.strip().splitlines():
            mark, _, value = line.partition(" ")
            field = field if mark == ";" else mark
            if field == "N":
                notation = value
            elif field == "R":
                found.append((notation, value))
    return found


def _part(start: str, near: dict[str, set[str]]) -> set[str]:
    """Return nodes connected with one, no more than are needed to see that they are enough."""
    seen, ahead = {start}, [start]
    while ahead and len(seen) < FEWEST:
        new = near[ahead.pop()] - seen
        seen |= new
        ahead.extend(sorted(new))
    return seen


def _clean(text: str) -> str:
    """Take out what names the class or the place in a book, and the signs of the scheme."""
    text = text.replace("(story of)", "story of").replace("(scenes from)", "scenes from")
    # Bible verses and lines of Ovid, the source "Ripa", placeholders and notes to the cataloguer.
    text = re.sub(
        r"\s*\((?:[^()]*\d[^()]*|Ripa|with [A-Z]{4,}[^()]*|\.\.\.|N\.B\.[^()]*)\)", "", text
    )
    # The context of a subject, where it is the name of a division or of a part of it.
    named = r"(?:[\w-]+ )*(?:religions?|mythology|biblical context)"
    text = re.sub(rf"\s*\((?:~ )?{named}\)|\s*~ {named}(?=$|[;,:)])", "", text)
    # The sign is read "related to".
    text = re.sub(r"\s*~ ", ", related to ", text).replace("(, ", "(")
    return " ".join(text.split()).strip(" ;,:")

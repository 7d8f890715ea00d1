"""What the Perl interpreter may complain about, by how serious it is.

Source: the manual page perldiag in the Debian package perl-doc 5.36.0, under the GPL or the
Artistic licence.

Node: a message. Text: the message and its explanation, up to 80 words, without the letter that
classifies it. Edge: the explanations refer to the same part of the manual, or show the same word as
code, which at most forty messages do. Class: the letter of the message, by its meaning.

Kinds: error messages; one class over half of the nodes; classes of under twenty nodes; edges from
shared references.

Known weaknesses: how serious a message is follows from the state of the interpreter more than from
its words, so that no reader can be right on all. Messages with two letters count for the first.
"""

from __future__ import annotations

import gzip
import re
from collections import defaultdict

from graphs.sources import Made, debian, sharing, start

LETTERS = {
    "W": "Warning",
    "D": "Deprecation",
    "S": "Severe warning",
    "F": "Fatal error",
    "P": "Internal error (panic)",
    "X": "Very fatal error",
    "A": "Alien error message",
}
WORDS = 80
MOST = 40
MESSAGE = re.compile(  # its head, the letter and others, the explanation up to the next one
    r'^\.IX Item "([^\n]*)"\n\(([A-Z])[^)]*\)(?:\([A-Z][^)]*\))*'
    r"(.*?)(?=^\.(?:ie n \.)?IP |^\.SH |\Z)",
    re.MULTILINE | re.DOTALL,
)
PART = re.compile(  # "pack" in perlfunc, perlre, pack(), and words set as code
    r'\\\*\(L"([^\n]+?)\\\*\(R" in (perl\w+)|(\bperl\w+\b)'
    r"|\\fB(\w+)\(\)\\fR|\\\*\(C`([\w:]+)\\\*\(C"
)


def build() -> Made:
    """Read the manual page and return its messages."""
    file = debian("perl-doc") / "usr/share/man/man1/perldiag.1.gz"
    page = gzip.decompress(file.read_bytes()).decode("utf-8")
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for number, found in enumerate(MESSAGE.finditer(page)):
        message, letter, said = found.groups()
        ids.append(str(number))
        texts.append(start(f"{_plain(message)}. {_plain(said)}", WORDS))
        labels.append(LETTERS[letter])
        for part in {" ".join(match) for match in PART.findall(said)}:
            holders[part].append(ids[-1])
    return Made(ids, texts, labels, sharing(holders, MOST))


def _plain(said: str) -> str:
    """Return a piece of a manual page without the requests of roff."""
    said = re.sub(r"^\.Vb.*?^\.Ve", "", said, flags=re.M | re.S)  # examples
    said = re.sub(r"^\..*$", "", said, flags=re.M)
    said = re.sub(r"\\\*\((?:[LR]\"|C[`'])|\\f(?:\(CW|\w)|\\[&|]|\\s-?\d", "", said)
    return said.replace("\\-", "-").replace("\\e", "\\").replace("\\*(--", "-")

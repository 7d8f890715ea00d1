"""Options of the Linux kernel: what one may build in, and which option needs which other.

Source: the Debian package linux-source-6.1 (of the release of this machine, Debian 12; its version
follows security updates), the source code of the Linux kernel, GNU GPL version 2. Only its Kconfig
files are read.

Node: an option with a prompt and a help text; other architectures than x86 and ARM are left out.
Text: prompt and help, up to eighty words. Edge, directed: from an option to one that it depends on
(itself, or by the menu or condition around it), selects or implies. Class: the top folder of the
source tree with the Kconfig file that first describes it, by a plain name; folders of the core
(init, kernel, mm and a few small ones) are one class. There are more than 13,000 such options; of
them 9,000 stay: those that ten or more others name, then any by a checksum.

Kinds: hubs of degree over 1,000; one class with over half of the nodes; directed edges; texts of
some forty words; a class that is a mixed remainder (the core with build settings and samples).

Known weaknesses: drivers are seven nodes in ten, and much that they are about (sound, networks,
crypto) is another class when it is no driver. Many texts only say the name of a chip and of the
module. A negated or alternative condition is an edge as well; a condition around the line that
reads in another file is none. The largest hub, COMPILE_TEST, only says that a driver may be built
where its hardware is not. Options without a prompt are left out with their edges.
"""

from __future__ import annotations

import re
import tarfile
import zlib
from collections import Counter
from dataclasses import dataclass, field

from graphs.sources import Made, debian

FOLDERS = {  # folder at the top of the source tree: name of the class
    "arch": "Processor architectures and platforms",
    "block": "Block devices, partitions and disk scheduling",
    "crypto": "Cryptographic algorithms",
    "drivers": "Device drivers",
    "fs": "File systems",
    "lib": "Library routines and debugging aids",
    "net": "Networking protocols",
    "security": "Security and access control",
    "sound": "Sound and audio",
}
CORE = "Core of the kernel and other settings"
ARCHITECTURES = ("x86", "arm", "arm64")
MOST, NAMED_OFTEN, WORDS = 9000, 10, 80
SYMBOL = re.compile(r"\b[A-Z0-9_]*[A-Z][A-Z0-9_]*\b")
PROMPT = re.compile(r"(?:bool|tristate|string|hex|int|prompt)\s+([\"'])(.+?)\1")


@dataclass
class Option:
    """One option, by all the places that describe it."""

    folder: str = ""
    prompt: str = ""
    help: list[str] = field(default_factory=list)
    needs: set[str] = field(default_factory=set)


def build() -> Made:
    """Read the Kconfig files and return the options they describe."""
    options: dict[str, Option] = {}
    for path, text in sorted(_files().items()):
        _read(path, text, options)
    good = {name: one for name, one in options.items() if one.prompt and one.help}
    named = Counter(other for own, one in good.items() for other in one.needs - {own})
    ranked = sorted(good, key=lambda own: (named[own] < NAMED_OFTEN, zlib.crc32(own.encode())))
    ids = sorted(ranked[:MOST])
    kept = set(ids)
    edges = [(own, other) for own in ids for other in sorted(good[own].needs & kept - {own})]
    texts = [_text(good[own]) for own in ids]
    labels = [FOLDERS.get(good[own].folder, CORE) for own in ids]
    return Made(ids, texts, labels, edges, directed=True)


def _files() -> dict[str, str]:
    """Return the Kconfig files by their path in the source tree."""
    (archive,) = debian("linux-source-6.1").glob("usr/src/*.tar.xz")
    found: dict[str, str] = {}
    with tarfile.open(archive, "r|xz") as packed:
        for member in packed:
            path = member.name.split("/", 1)[-1]
            parts = path.split("/")
            if not member.isfile() or not parts[-1].startswith("Kconfig"):
                continue
            if parts[0] in ("Documentation", "scripts"):
                continue
            if parts[0] == "arch" and len(parts) > 2 and parts[1] not in ARCHITECTURES:
                continue
            stream = packed.extractfile(member)
            if stream is not None:
                found[path] = stream.read().decode("utf-8").replace("\\\n", " ")
    return found


def _read(path: str, text: str, options: dict[str, Option]) -> None:
    """Add what one file says about options."""
    around: list[set[str]] = []  # of each open menu or condition, the options it depends on
    own: Option | None = None
    place: set[str] | None = None  # where a line "depends on" belongs
    helping: int | None = None  # indent of the help text, -1 before its first line
    for line in text.expandtabs().splitlines():
        indent = len(line) - len(line.lstrip())
        if helping is not None:
            if not line.strip():
                continue
            if helping == -1 and indent > 0:
                helping = indent
            if 0 < helping <= indent:
                if own is not None:
                    own.help.append(line.strip())
                continue
            helping = None
        word, _, rest = line.strip().partition(" ")
        if word in ("config", "menuconfig"):
            own = options.setdefault(rest.strip(), Option())
            if own.prompt:  # a second description adds nothing
                own = Option()
            own.folder = path.split("/")[0] if "/" in path else ""
            own.needs |= set().union(*around)
            place = own.needs
        elif word in ("menu", "if", "choice"):
            own, place = None, set(_symbols(rest)) if word == "if" else set()
            around.append(place)
        elif word in ("endmenu", "endif", "endchoice"):
            own, place = None, None
            around.pop()
        elif word in ("comment", "source", "mainmenu"):
            own, place = None, None
        elif word in ("depends", "select", "imply"):
            if place is not None:
                place |= set(_symbols(rest))
        elif word in ("help", "---help---"):
            helping = -1
            if own is not None:
                own.help = []
        elif own is not None and (prompt := PROMPT.match(line.strip())):
            own.prompt = prompt[2]


def _symbols(expression: str) -> list[str]:
    return SYMBOL.findall(re.sub(r"\"[^\"]*\"|'[^']*'|\$\([^)]*\)|#.*", " ", expression))


def _text(option: Option) -> str:
    words = f"{option.prompt.rstrip('.')}. {' '.join(option.help)}".split()
    return " ".join(words[:WORDS])

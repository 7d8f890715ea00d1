"""Manual pages in Spanish, joined by what they refer to.

Source: the Debian packages manpages-es and manpages-es-dev 4.18.1, translations of the project
manpages-l10n; licences are those of the translated pages (GPL, BSD, and others that are as free).

Node: a manual page that is mostly in Spanish. Text, in Spanish: its body without headings and
synopsis, up to 200 words. Edge, directed: the page names the other, as "printf(3)". Class: the
section of the manual that the page is in, by a plain Spanish name; sections of fewer than five
pages are left out.

Kinds: texts of about 200 words, in another language than English, class names in Spanish too;
directed edges; very uneven class sizes.

Known weaknesses: half translated pages hold English passages; those with few Spanish words are left
out. Pages that only point to another are left out. A text may name its own section ("esta llamada
al sistema").
"""

from __future__ import annotations

import gzip
import re
from collections import Counter

from graphs.sources import Made, debian, start

SECTIONS = {
    "1": "Órdenes de usuario",
    "2": "Llamadas al sistema",
    "3": "Funciones de biblioteca",
    "4": "Dispositivos y ficheros especiales",
    "5": "Formatos de fichero",
    "7": "Convenciones y miscelánea",
    "8": "Administración del sistema",
}
WORDS = 200
FONT = re.compile(r"\\f(?:\[\w*\]|\(?\w)")
MENTION = re.compile(r"([\w.+-]+) ?\((\d)\)")
SPANISH = " con de del el en la las los para por que se su un una y "
FEWEST_SPANISH = 0.15  # of the words
SKIPPED = ("SINOPSIS", "SYNOPSIS", "NOMBRE", "BIBLIOTECA")


def build() -> Made:
    """Read the pages of both packages."""
    pages: dict[str, str] = {}
    for package in ("manpages-es", "manpages-es-dev"):
        for file in sorted((debian(package) / "usr/share/man/es").rglob("*.gz")):
            name, _, section = file.name.removesuffix(".gz").rpartition(".")
            said = gzip.decompress(file.read_bytes()).decode("utf-8", errors="replace")
            if section[:1] in SECTIONS and not file.is_symlink() and not said.startswith(".so "):
                pages[f"{name}({section[0]})"] = said
    texts = {own: text for own, said in pages.items() if _is_spanish(text := _plain(said))}
    sizes = Counter(own[-2] for own in texts)
    ids = [own for own in sorted(texts) if sizes[own[-2]] > 4]
    kept = set(ids)
    edges = {
        (own, other)
        for own in ids
        for found in MENTION.finditer(FONT.sub("", pages[own]).replace("\\-", "-"))
        if (other := f"{found[1]}({found[2]})") in kept and other != own
    }
    labels = [SECTIONS[own[-2]] for own in ids]
    return Made(ids, [texts[own] for own in ids], labels, sorted(edges), directed=True)


def _is_spanish(text: str) -> bool:
    """Return whether a text was translated, by its small words."""
    words = text.split()
    return sum(f" {word} " in SPANISH for word in words) > FEWEST_SPANISH * len(words) > 1


def _plain(said: str) -> str:
    """Return the text of a page, without requests, headings, synopsis and mentions of sections."""
    parts = re.split(r"^\.S[HS] +", said, flags=re.MULTILINE)[1:]
    body = " ".join(
        part.partition("\n")[2]
        for part in parts
        if not part.partition("\n")[0].strip('" ').upper().startswith(SKIPPED)
    )
    body = re.sub(r"^\.(?:B|I|BR|IR|BI|RB|RI) +", "", body, flags=re.MULTILINE)
    body = re.sub(r"^[.'].*$", "", body, flags=re.MULTILINE)  # other requests of roff
    body = re.sub(r"\\[&|/,]|\\\(\w\w|\\\*\S|\\\[\w+\]", "", FONT.sub("", body))
    body = re.sub(r"\\[-e]", "-", body).replace('"', "")
    return start(re.sub(r" ?\(\d\)", "", body), WORDS)

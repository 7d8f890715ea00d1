"""Functions of a program for numerical computing, joined by what their help says to see also.

Source: the Debian package scilab-doc 6.1.1, GPL version 2 or later.

Node: a page of the English help on a function, a block or a command. Text: its names and purposes
and its description, up to 80 words. Edge: one page lists the other under "See also". Class: the
chapter of the help, by a plain name; those of fewer than six pages are left out.

Kinds: edges from see-also references; very uneven class sizes (fifty to one) and many classes;
class names whose words occur in nodes.

Known weaknesses: the pages on what replaces a Matlab function are of the same subjects as the other
chapters and differ by saying so. Small chapters overlap with large ones (plots and their export,
three on files). A fifth of the pages have no references.
"""

from __future__ import annotations

import html
import re
import zipfile
from collections import Counter

from graphs.sources import Made, debian

CHAPTERS = {
    "API Scilab": "Programming interface for C and C++",
    "ATOMS": "Installing extension packages",
    "Advanced functions": "Profiling and advanced functions",
    "Code Matlab => Scilab": "Converting Matlab code",
    "Console": "Console window",
    "Control Systems - CACSD": "Control systems",
    "Data Structures": "Data structures",
    "Demo Tools": "Demonstrations",
    "Differential calculus, Integration": "Differential equations and integration",
    "Documentation system": "Writing help pages",
    "Dynamic/incremental Link": "Linking compiled code",
    "Elementary Functions": "Elementary functions",
    "Files : Input/Output functions": "Files and folders",
    "GUI": "Graphical user interface",
    "Graphics": "Graphics and plots",
    "Graphics export": "Exporting graphics",
    "HDF5 files": "HDF5 files",
    "History manager": "History of commands",
    "Input/Output functions": "Reading and printing values",
    "Interpolation": "Interpolation",
    "Java from Scilab": "Using Java",
    "Linear Algebra": "Linear algebra",
    "MEX Library API": "Interface for Matlab extensions",
    "Matlab data files I/O": "Matlab data files",
    "Modules manager": "Building modules",
    "Multilinguism": "Languages of the interface",
    "Optimization and Simulation": "Optimization",
    "Parameters": "Lists of parameters",
    "Polynomials": "Polynomials",
    "Scilab": "Language keywords and environment",
    "Scilab code instrumentation": "Code coverage and profiling",
    "Signal Processing": "Signal processing",
    "Sound file handling": "Sound",
    "Sparse Matrix": "Sparse matrices",
    "Special Functions": "Special functions",
    "Spreadsheet": "Spreadsheet files",
    "Statistics": "Statistics",
    "Strings": "Strings",
    "Tcl/Tk Interface": "Tcl and Tk",
    "Testing & benchmarking": "Testing",
    "Time and Date": "Time and date",
    "UMFPACK Interface (sparse)": "Solvers for sparse linear systems",
    "Web Tools": "Web access",
    "Windows tools": "Microsoft Windows",
    "XML Management": "XML documents",
    "Xcos": "Blocks for simulation diagrams",
    "call_scilab API (Scilab engine)": "Calling the program from other programs",
}
FEWEST = 6
WORDS = 80
SECTION = r'<h3 class="title">{}</h3>(.*?)(?=<h3 class="title">|<div class="manualnavbar">|$)'
ALSO = re.compile(SECTION.format("See [Aa]lso"), re.DOTALL)
ABOUT = re.compile(SECTION.format("Description"), re.DOTALL)
NAMED = re.compile(r'<h1 class="refname">(.*?)</h1>\s*<p class="refpurpose">(.*?)</p>', re.DOTALL)
PATH = re.compile(r'<span class="path"[^>]*>.*?</a> &gt;&gt; <a [^>]*>(.*?)</a>', re.DOTALL)


def build() -> Made:
    """Read the pages of the help and return them."""
    root = debian("scilab-doc") / "usr" / "share" / "scilab" / "modules"
    texts: dict[str, str] = {}
    chapters: dict[str, str] = {}
    also: dict[str, list[str]] = {}
    with zipfile.ZipFile(root / "helptools" / "jar" / "scilab_en_US_help.jar") as packed:
        for name in sorted(name for name in packed.namelist() if name.endswith(".html")):
            page = packed.read(name).decode("utf-8", errors="replace")
            own, named, path = name.rsplit("/", 1)[-1], NAMED.findall(page), PATH.search(page)
            if named and path:
                each = [f"{_plain(title)}: {_plain(what)}".rstrip(".") for title, what in named]
                said = ". ".join(each)
                about = ABOUT.search(page)
                words = f"{said}. {_plain(about[1]) if about else ''}".split()
                texts[own], chapters[own] = " ".join(words[:WORDS]), _plain(path[1])
                also[own] = re.findall(r'href="([^"#]+\.html)', " ".join(ALSO.findall(page)))
    sizes = Counter(chapters.values())
    ids = [own for own in texts if sizes[chapters[own]] >= FEWEST]
    kept = set(ids)
    edges = {
        (min(own, other), max(own, other))
        for own in ids
        for other in also[own]
        if other in kept and other != own
    }
    labels = [CHAPTERS[chapters[own]] for own in ids]
    return Made(ids, [texts[own] for own in ids], labels, sorted(edges))


def _plain(markup: str) -> str:
    """Return the words of a piece of a page."""
    markup = re.sub(r"</?(?:span|a|em|b|i|code|sub|sup)\b[^>]*>", "", markup)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())

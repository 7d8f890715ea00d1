"""Functions and classes of a library of numerical computing, by subpackage.

Data: the wheel of SciPy 1.17.1 from the Python Package Index; its licence file states the BSD
3-clause licence (compiled libraries in the wheel have their own). Its files are read, not imported.

Node: a function, class or distribution that a public module lists in its own documentation. Text:
name, summary and first paragraph of its docstring, without markup and module paths; where no
docstring is found (compiled code), the line that the list gives it, or else it is no node. Edge: a
node named in the "See Also" section or between backticks (but for names of its own parameters) of
the docstring, or in the code. Class: the subpackage; submodules go with their parent, and fftpack,
the old interface, with fft. Left out, as of fewer than 40 nodes: cluster, integrate, io and others.
Weaknesses: one text in eight is a line of a list, with only the edges others give it. Distributions
read alike and refer to one base class. A bare name is looked for in the subpackage that names it,
so edges to another class are a little rarer than in truth.
"""

from __future__ import annotations

import ast
import builtins
import re
from inspect import cleandoc
from itertools import takewhile

from graphs.sources import Made, pip

MODULES = {
    "Discrete Fourier transforms": "fft fftpack",
    "Interpolation": "interpolate",
    "Linear algebra": "linalg linalg.interpolative",
    "Multidimensional image processing": "ndimage",
    "Optimization and root finding": "optimize optimize.elementwise",
    "Signal processing": "signal signal.windows",
    "Sparse matrices and graphs": "sparse sparse.csgraph sparse.linalg",
    "Spatial data structures and algorithms": "spatial spatial.distance spatial.transform",
    "Special functions": "special",
    "Statistics": "stats stats.contingency stats.mstats stats.qmc stats.sampling",
}
LIST = re.compile(r"\.\. autosummary::\n((?:(?: {3}.*)?\n)+)")
LISTED = re.compile(r"^ {3}(\w+)(?: +--? +(.+))?", re.M)
AREAS = "|".join(MODULES.values()).replace(" ", "|")
PATH = re.compile(rf"(?:\w+\.)*\b(?:{AREAS})\.(?:\w+\.)*(?=\w)")
SECTION = re.compile(r"^(?=\w[\w ]*\n-{3,} *$)", re.M)
UFUNC = re.compile(r'^add_newdoc\(\s*"(\w+)",\s*r?"""(.*?)"""', re.S | re.M)


def build() -> Made:
    """Return what the public modules list, and what it refers to."""
    root, sources = pip("scipy==1.17.1") / "scipy", dict[str, str]()
    defined: dict[str, tuple[str, list[str]]] = {}  # docstring, names in the code
    for file in sorted(root.rglob("*.py"), key=lambda file: (len(file.parts), file)):
        path = ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        sources[path] = file.read_text(encoding="utf-8")
        if re.match(rf"({AREAS})\b", path) and not re.search(r"\.(tests|_precompute)\.", path):
            area = ".".join(takewhile(lambda part: part[0] != "_", path.split(".")))
            area = "stats.mstats" if "._mstats" in path else area  # repeats names of stats
            for name, found in _definitions(sources[path]).items():
                defined.setdefault(f"{area}.{name}", found)
    ids: dict[str, str] = {}
    nodes: dict[str, tuple[str, str, list[list[str]]]] = {}  # label, text, what it may refer to
    for label, modules in MODULES.items():
        for module in modules.split():
            near = [module, *modules.split()]
            for name, line in LISTED.findall("\n".join(LIST.findall(sources[module]))):
                keys = [f"{area}.{name}" for area in near]
                key = next((key for key in keys if key in defined), keys[0])
                doc, used = defined.get(key, ("", []))
                text = _text(name, doc or line)
                if text and keys[0] not in sources:  # a submodule is no node
                    ids[keys[0]] = ids.setdefault(key, keys[0])
                    named = [[n, *(f"{area}.{n}" for area in near)] for n in _mentioned(doc) + used]
                    nodes.setdefault(ids[key], (label, text, named))
    edges: dict[tuple[str, str], None] = {}
    for one, (_, _, named) in nodes.items():
        others = [next((ids[n] for n in names if n in ids), one) for names in named]
        edges |= {(min(one, two), max(one, two)): None for two in others if two != one}
    labels, texts, _ = zip(*nodes.values(), strict=True)
    return Made(list(nodes), list(texts), list(labels), list(edges))


def _definitions(source: str) -> dict[str, tuple[str, list[str]]]:
    """Return docstring and used names, imported ones as paths, of what a file defines."""
    tree, paths = ast.parse(source), dict[str, str]()
    for line in ast.walk(tree):
        if isinstance(line, ast.Import) or (isinstance(line, ast.ImportFrom) and not line.level):
            above = f"{line.module}." if isinstance(line, ast.ImportFrom) else ""
            paths |= {item.asname or item.name: above + item.name for item in line.names}
    found = {name: (cleandoc(doc), list[str]()) for name, doc in UFUNC.findall(source)}
    for thing in tree.body:
        if isinstance(thing, ast.FunctionDef | ast.ClassDef) and (doc := ast.get_docstring(thing)):
            inside = list(ast.walk(thing))
            names = [n for n in inside if isinstance(n, ast.Name)]
            dots = [(ast.unparse(n.value), n.attr) for n in inside if isinstance(n, ast.Attribute)]
            own = {*dir(builtins), *(n.id for n in names if isinstance(n.ctx, ast.Store))}
            own |= {n.arg for n in inside if isinstance(n, ast.arg)}
            used = [paths.get(n.id, n.id) for n in names if n.id not in own]
            used += [f"{paths[base]}.{name}" for base, name in dots if base in paths]
            # a distribution is an object, norm = norm_gen(...), described by its class
            found[thing.name.removesuffix("_gen")] = (doc, [n.removeprefix("scipy.") for n in used])
    return found


def _mentioned(doc: str) -> list[str]:
    """Return names under "See Also" and between single backticks, but for parameters."""
    parts = SECTION.split(re.sub(r":math:`[^`]*`", "", doc))
    also = "".join(part for part in parts if part.startswith("See Also"))
    rest = "".join(part for part in parts if not part.startswith("See Also"))
    seen = " ".join(re.split(r"\s*:\s", line)[0] for line in re.findall(r"^\S.*", also, re.M))
    own = set(re.findall(r"\w+", " ".join(re.findall(r"^(\w[\w, *]*) ?:", rest, re.M))))
    quoted = [name for name in re.findall(r"(?<!`)`~?([\w.]+)`(?!`)", rest) if name not in own]
    return [name.removeprefix("scipy.") for name in re.findall(r"[\w.]+", seen) + quoted]


def _text(name: str, doc: str) -> str:
    """Return name, summary and first paragraph as plain prose, or nothing."""
    blocks = re.split(r"\n\s*\n", SECTION.split(doc)[0].strip())
    blocks = [b for b in blocks if not re.match(rf"{name}\(|\.\.|\s|.*%\(", b)]
    text = re.sub(r"`([^`<]+?)\s?<[^`>]*>`_+|:\w+:`~?([^`]*)`", r"\1\2", "\n".join(blocks[:2]))
    text = re.sub(r"\bscipy\.\w+", "SciPy", PATH.sub("", text))
    text = re.sub(r"\s?\[\w+\]_|[`\\{}]|(?<=:):", "", text)
    return " ".join(f"{name}: {text}".split()[:150]) if text else ""

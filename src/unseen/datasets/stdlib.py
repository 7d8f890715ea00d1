"""A real text graph that every Python carries: its own standard library.

Modules, classes, functions and methods with a docstring are nodes; containment, imports and
inheritance are edges; the class of a node is the section of the Python Library Reference that
documents its module. Nothing is downloaded, so a demonstration runs anywhere at once.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import sysconfig
import tomllib
import warnings
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.machinery import BuiltinImporter, ExtensionFileLoader, PathFinder
from importlib.util import resolve_name
from pathlib import Path
from typing import Any

from unseen.core.errors import InputError

# Of the sections with at least 50 nodes on each of Python 3.11 to 3.13, in alphabetical order:
# the first, third, fifth and so on, until there are eight. No result has a say in it.
HELD_OUT: tuple[str, ...] = (
    "Binary Data Services",
    "Data Compression and Archiving",
    "Data Types",
    "Development Tools",
    "File and Directory Access",
    "Generic Operating System Services",
    "Importing Modules",
    "Internet Protocols and Support",
)

WORDS_OF_DOCSTRING = 60
TEST_PACKAGES = {"test", "tests", "idle_test"}

Definition = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Collected:
    """The graph as plain lists: node `i` is `ids[i]`, `texts[i]` and `sections[i]`."""

    ids: list[str]
    texts: list[str]
    sections: list[str]
    edges: list[tuple[int, int]]


def sections() -> list[tuple[str, str]]:
    """Return the name and description of each section, in the order of the reference."""
    return [(each["name"], " ".join(each["description"].split())) for each in _table()["section"]]


def collect() -> Collected:
    """Build the graph from the standard library of the running interpreter."""
    root = Path(sysconfig.get_path("stdlib"))
    if not (root / "os.py").is_file():
        raise InputError(
            f"the 'stdlib' graph is read from the sources of Python's standard library, but {root} "
            "has no os.py: use a full Python installation, not a zipped or embedded one"
        )
    table = _table()
    section_of = {name: part["name"] for part in table["section"] for name in part["modules"]}
    library = _Library(root)
    for module in sorted({found for name in section_of for found in _with_submodules(root, name)}):
        library.read(module, module)
        if private := table["implementations"].get(module):
            library.read(private, module)
    ids = list(library.docs)
    position = {name: i for i, name in enumerate(ids)}
    pairs = [sorted((position[a], position[b])) for a, b in library.links()]
    return Collected(
        ids=ids,
        texts=[_text(name, doc) for name, doc in library.docs.items()],
        sections=[section_of[_longest_prefix(name, section_of)] for name in ids],
        edges=sorted({(i, j) for i, j in pairs if i != j}),
    )


@dataclass
class _Library:
    """What has been read so far; every name is dotted, from its public module down."""

    root: Path
    docs: dict[str, str] = field(default_factory=dict)  # the nodes
    modules: set[str] = field(default_factory=set)
    imports: list[tuple[str, str]] = field(default_factory=list)  # module, what it imports
    bases: list[tuple[str, str]] = field(default_factory=list)  # class, its base as named there
    aliases: dict[str, str] = field(default_factory=dict)  # local name -> what it stands for

    def read(self, name: str, module: str) -> None:
        """Read the module `name` as the public `module`, or as a part of it, if it can be read."""
        self.modules.add(module)
        if name != module:
            self.aliases[name] = module
        if path := _source(self.root, name):
            try:
                tree = ast.parse(path.read_bytes())
            except (OSError, SyntaxError, ValueError):
                return
            package = name if path.stem == "__init__" else name.rpartition(".")[0]
            self._add_source(module, tree, module, package)
        elif compiled := _import_compiled(name):
            self._add_object(module, compiled, module)

    def links(self) -> Iterator[tuple[str, str]]:
        """Yield the two ends of every containment, import and inheritance between nodes."""
        for name in self.docs:
            if parent := _longest_prefix(name.rpartition(".")[0], self.docs):
                yield name, parent
        documented = self.modules & self.docs.keys()
        for module, target in self.imports:
            if module in documented and (found := _longest_prefix(target, documented)):
                yield module, found
        for name, base in self.bases:
            if name in self.docs and (found := self._resolve(base)):
                yield name, found

    def _add_source(
        self, name: str, tree: ast.Module | Definition, module: str, package: str
    ) -> None:
        self._add_node(name, ast.get_docstring(tree, clean=False))
        if isinstance(tree, ast.ClassDef):
            named = [base for base in tree.bases if isinstance(base, ast.Name | ast.Attribute)]
            self.bases += [(name, f"{module}.{ast.unparse(base)}") for base in named]
        if isinstance(tree, ast.Module | ast.ClassDef):
            for child in _statements(tree.body):
                if isinstance(child, Definition) and not child.name.startswith("_"):
                    self._add_source(f"{name}.{child.name}", child, module, package)
                elif isinstance(child, ast.Import):
                    self._add_import(module, "", child.names)
                elif isinstance(child, ast.ImportFrom):
                    origin = resolve_name("." * child.level + (child.module or ""), package)
                    self._add_import(module, f"{origin}.", child.names)

    def _add_object(self, name: str, thing: object, module: str) -> None:
        """Do for a compiled module, and for what it holds, what `_add_source` does."""
        self._add_node(name, thing.__doc__)
        if inspect.isclass(thing):
            self.bases += [(name, f"{module}.{base.__name__}") for base in thing.__bases__]
        if inspect.isclass(thing) or inspect.ismodule(thing):
            members = vars(thing)
            for key, child in sorted(members.items()):
                original = members.get(f"__{key}__")  # a program may have replaced sys.excepthook
                child = original if inspect.isbuiltin(original) else child
                is_definition = inspect.isclass(child) or inspect.isroutine(child)
                is_alias = getattr(child, "__name__", "") != key
                if is_definition and not is_alias and not key.startswith("_"):
                    self._add_object(f"{name}.{key}", child, module)

    def _add_node(self, name: str, doc: object) -> None:
        if isinstance(doc, str) and doc.strip():
            self.docs.setdefault(name, doc)

    def _add_import(self, module: str, origin: str, names: list[ast.alias]) -> None:
        for alias in names:
            target = origin + alias.name
            self.imports.append((module, target))
            if not origin and not alias.asname:  # `import a.b` makes `a` known, not `b`
                target = target.partition(".")[0]
            self.aliases.setdefault(f"{module}.{alias.asname or target.rpartition('.')[2]}", target)

    def _resolve(self, name: str) -> str:
        """Follow imports from the name of a base class to its node; the empty string if none."""
        for _ in range(5):  # re-exports are short chains, and may be circular
            if name in self.docs:
                return name
            known = _longest_prefix(name, self.aliases)
            name = self.aliases.get(known, "") + name[len(known) :]
        return ""


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("stdlib_sections.toml").read_text("utf-8"))


def _source(root: Path, name: str) -> Path | None:
    """Return the source file of a module, found by its path: nothing, not even a parent, runs."""
    path = root.joinpath(*name.split("."))
    candidates = (path / "__init__.py", path.with_suffix(".py"))
    return next((file for file in candidates if file.is_file()), None)


def _with_submodules(root: Path, name: str) -> Iterator[str]:
    """Yield a module and, if it is a package, the public modules below it except its tests."""
    yield name
    for path in root.joinpath(*name.split(".")).glob("*"):
        is_module = path.suffix == ".py" or (path / "__init__.py").is_file()
        if is_module and not path.stem.startswith("_") and path.stem not in TEST_PACKAGES:
            yield from _with_submodules(root, f"{name}.{path.stem}")


def _import_compiled(name: str) -> object | None:
    """Import a module of the standard library if it is written in C: such an import is harmless."""
    if name not in sys.stdlib_module_names:
        return None
    if BuiltinImporter.find_spec(name) is None:
        spec = PathFinder.find_spec(name)
        if spec is None or not isinstance(spec.loader, ExtensionFileLoader):
            return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return importlib.import_module(name)
        except ImportError:
            return None


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements of a body, looking inside `if`, `try` and `with`."""
    for statement in body:
        if isinstance(statement, ast.If | ast.Try | ast.ExceptHandler | ast.With):
            yield from _statements(ast.iter_child_nodes(statement))
        else:
            yield statement


def _longest_prefix(name: str, known: Container[str]) -> str:
    """Shorten a dotted name until it is known; the empty string if it never is."""
    while name and name not in known:
        name = name.rpartition(".")[0]
    return name


def _text(name: str, doc: str) -> str:
    """Put a node into words: its full name, split into words, and what its docstring says."""
    words = re.sub(r"[._]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    summary = " ".join(doc.split()[:WORDS_OF_DOCSTRING])
    return f"{words.strip()}: {summary}"

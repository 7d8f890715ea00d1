"""The graph of the standard library: sound, true to the library, free of side effects."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import sysconfig
import textwrap
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from unseen.core.errors import InputError
from unseen.datasets import stdlib
from unseen.datasets.stdlib import HELD_OUT, Collected, collect, sections


@pytest.fixture(scope="module")
def graph() -> Collected:
    return collect()


@pytest.fixture(scope="module")
def section_of(graph: Collected) -> dict[str, str]:
    return dict(zip(graph.ids, graph.sections, strict=True))


@pytest.fixture(scope="module")
def linked(graph: Collected) -> set[frozenset[str]]:
    return {frozenset((graph.ids[i], graph.ids[j])) for i, j in graph.edges}


def in_fresh_python(code: str, *options: str) -> str:
    source = Path(stdlib.__file__).parents[2]
    code = f"import sys; sys.path.insert(0, {str(source)!r})\n" + textwrap.dedent(code)
    command = [sys.executable, *options, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_lists_describe_the_same_nodes(graph: Collected) -> None:
    assert len(graph.ids) == len(graph.texts) == len(graph.sections)
    assert len(set(graph.ids)) == len(graph.ids)
    assert 4_000 < len(graph.ids) < 9_000


def test_edges_are_unique_ordered_and_in_range(graph: Collected) -> None:
    assert len(set(graph.edges)) == len(graph.edges) > len(graph.ids)
    assert all(0 <= i < j < len(graph.ids) for i, j in graph.edges)


def test_most_edges_join_nodes_of_one_section(graph: Collected) -> None:
    same = sum(graph.sections[i] == graph.sections[j] for i, j in graph.edges)
    assert 0.8 < same / len(graph.edges) < 1


def test_every_section_has_nodes_and_every_node_a_section(graph: Collected) -> None:
    names = {name for name, _ in sections()}
    assert set(graph.sections) == names - missing_here()
    assert 18 <= len(names) <= 26


def missing_here() -> set[str]:
    missing = {"Unix Specific Services"} if sys.platform == "win32" else set()
    if find_spec("tkinter") is None:  # a package of its own on Debian
        missing.add("Graphical User Interfaces with Tk")
    return missing


def test_held_out_sections_are_large_enough(graph: Collected) -> None:
    size = Counter(graph.sections)
    assert len(set(HELD_OUT)) == 8
    assert all(size[name] >= 50 for name in HELD_OUT)


@pytest.mark.skipif(
    find_spec("_sqlite3") is None or find_spec("tkinter") is None,
    reason="the rule was applied to a whole library: SQLite makes one section large, Tk another",
)
def test_held_out_sections_follow_the_stated_rule(graph: Collected) -> None:
    large = [name for name, nodes in Counter(graph.sections).items() if nodes >= 50]
    assert tuple(sorted(large)[::2][:8]) == HELD_OUT


@pytest.mark.parametrize(
    ("name", "section"),
    [
        ("json.dumps", "Internet Data Handling"),
        ("json.decoder.JSONDecoder.raw_decode", "Internet Data Handling"),
        ("email.mime.text.MIMEText", "Internet Data Handling"),
        ("xml.dom.minidom", "Structured Markup Processing Tools"),
        ("unittest.mock.patch", "Development Tools"),
        ("math.sqrt", "Numeric and Mathematical Modules"),
        ("unicodedata.name", "Text Processing Services"),
        ("itertools.chain", "Functional Programming Modules"),
        ("zlib.compress", "Data Compression and Archiving"),
        ("asyncio.events.AbstractEventLoop", "Networking and Interprocess Communication"),
    ],
)
def test_known_sections(section_of: dict[str, str], name: str, section: str) -> None:
    assert section_of[name] == section


@pytest.mark.parametrize(
    "name",
    [
        "collections.abc.MutableMapping.update",
        "concurrent.futures.Future.result",
        "contextvars.ContextVar.set",
        "datetime.date.fromordinal",
        "decimal.Decimal.sqrt",
        "importlib.machinery.FileFinder",
        "io.TextIOWrapper",
        "pathlib.Path.iterdir",
        "struct.unpack",
        "tomllib.loads",
    ],
)
def test_what_a_private_module_implements_is_public(section_of: dict[str, str], name: str) -> None:
    assert name in section_of


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("containment", "json", "json.decoder"),
        ("containment", "json.decoder.JSONDecoder", "json.decoder.JSONDecoder.decode"),
        ("containment in C", "itertools", "itertools.chain"),
        ("import", "subprocess", "threading"),
        ("import of a submodule", "urllib.request", "http.client"),
        ("relative import", "asyncio.base_events", "asyncio.events"),
        ("inheritance in a module", "collections.abc.MutableSet", "collections.abc.Set"),
        ("inheritance, module.Name", "logging.handlers.SMTPHandler", "logging.Handler"),
        (
            "inheritance, from .. import",
            "email.mime.text.MIMEText",
            "email.mime.nonmultipart.MIMENonMultipart",
        ),
        (
            "inheritance, through a private module",
            "concurrent.futures.thread.BrokenThreadPool",
            "concurrent.futures.BrokenExecutor",
        ),
    ],
)
def test_known_edges(linked: set[frozenset[str]], kind: str, one: str, other: str) -> None:
    assert {one, other} in linked, kind


def test_tests_and_private_names_are_left_out(graph: Collected) -> None:
    documented = {"_thread", "__future__"}
    parts = [name.split(".") for name in graph.ids]
    assert not [p for p in parts if {"test", "tests", "idle_test"} & set(p[:-1])]
    assert not [p for p in parts if any(s.startswith("_") and s not in documented for s in p)]


def test_texts_read_as_words_and_stay_short(graph: Collected) -> None:
    text_of = dict(zip(graph.ids, graph.texts, strict=True))
    assert text_of["json.dumps"].startswith("json dumps: Serialize ``obj`` to a JSON")
    assert text_of["json.decoder.JSONDecoder"].startswith("json decoder JSON Decoder: Simple JSON")
    assert text_of["json.decoder.JSONDecoder.raw_decode"].startswith(
        "json decoder JSON Decoder raw decode: Decode a JSON document"
    )
    docstrings = [text.partition(": ")[2] for text in graph.texts]
    assert max(len(text.split()) for text in docstrings) == stdlib.WORDS_OF_DOCSTRING == 60


def test_no_python_source_is_run() -> None:
    gained = in_fresh_python(
        """
        import warnings
        from unseen.datasets.stdlib import collect
        before = set(sys.modules)
        warnings.simplefilter("error")
        collect()
        for name in set(sys.modules) - before:
            print(name, getattr(sys.modules[name], "__file__", None))
        """
    ).splitlines()
    tools = ("encodings.", "_sysconfigdata")  # needed to decode a source, and to find it
    assert not [line for line in gained if line.endswith(".py") and not line.startswith(tools)]


def test_collecting_is_deterministic(graph: Collected) -> None:
    """Another process hashes strings differently; -OO strips the docstrings of running code."""
    printed = in_fresh_python(
        """
        from unseen.datasets.stdlib import collect
        import hashlib
        print(hashlib.sha256(ascii(collect()).encode()).hexdigest())
        """,
        "-OO",
    )
    assert printed.strip() == hashlib.sha256(ascii(graph).encode()).hexdigest()


def test_a_hook_that_a_program_replaced_changes_nothing(
    graph: Collected, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "sys.excepthook" in graph.ids
    monkeypatch.setattr(sys, "excepthook", lambda *_: None)
    assert collect() == graph


def test_a_module_that_is_not_compiled_is_never_imported() -> None:
    assert stdlib._import_compiled("math") is not None
    assert stdlib._import_compiled("turtle") is None
    assert "turtle" not in sys.modules


def test_conditional_code_is_read_and_broken_code_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cmd.py").write_text("def broken(:\n")
    (tmp_path / "os.py").write_text(
        '"""Talk to the system."""\n'
        "try:\n    import shlex\nexcept ImportError:\n    pass\n"
        'if True:\n    def getPid():\n        """Tell the number."""\n'
    )
    (tmp_path / "shlex.py").write_text('"""Split a line."""\n')
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    monkeypatch.setattr(stdlib, "_import_compiled", lambda _: None)
    system, frameworks = "Generic Operating System Services", "Program Frameworks"
    assert collect() == Collected(
        ids=["os", "os.getPid", "shlex"],
        texts=[
            "os: Talk to the system.",
            "os get Pid: Tell the number.",
            "shlex: Split a line.",
        ],
        sections=[system, system, frameworks],
        edges=[(0, 1), (0, 2)],
    )


def test_a_library_without_sources_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))
    with pytest.raises(InputError, match=r"has no os\.py: use a full Python installation"):
        collect()


def test_the_table_lists_no_module_twice() -> None:
    listed = Counter(name for part in stdlib._table()["section"] for name in part["modules"])
    assert [name for name, times in listed.items() if times > 1] == []


def test_section_names_and_descriptions_are_distinct_and_of_like_length() -> None:
    names, descriptions = zip(*sections(), strict=True)
    assert len(set(names)) == len(set(descriptions)) == len(names)
    assert all(text.endswith(".") and "\n" not in text for text in descriptions)
    words = [len(text.split()) for text in descriptions]
    assert max(words) < 1.3 * min(words)  # the care given to a class must not depend on the class


def test_every_implementation_belongs_to_a_listed_module() -> None:
    table = stdlib._table()
    listed = {name for part in table["section"] for name in part["modules"]}
    assert {name.partition(".")[0] for name in table["implementations"]} <= listed

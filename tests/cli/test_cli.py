"""The command line as a whole: help and what it costs, wrong commands, real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from topic_graph import Call

from .helpers import CLASSES, EDGES, NODES, one_line, options

COMMANDS = (
    *("classify", "predict", "check", "evaluate", "compare", "csd", "datasets", "demo"),
    "reproduce",
)
HIDDEN = ("walk", "classify-walk")  # still work, until the engines replace them
HEAVY = ("numpy", "polars", "torch", "scipy", "sklearn", "plotly", "pandas", "wordllama")


@pytest.mark.parametrize(
    "words", [["classify"], ["classify", "--among", "some"], ["predict"], ["nothing"], ["--wrong"]]
)
def test_a_wrong_command_is_no_traceback(words: list[str], call: Call) -> None:
    code, told, complaint = call(*words)
    assert (code, told) == (2, "")
    assert complaint
    assert "Traceback" not in complaint


@pytest.mark.parametrize(
    "words",
    [
        [],
        *([name] for name in (*COMMANDS, *HIDDEN)),
        *(["datasets", n] for n in ("list", "get", "export")),
    ],
)
def test_help(words: list[str], call: Call) -> None:
    code, told, complaint = call(*words, "--help")
    assert (code, complaint) == (0, "")
    assert "Usage" in told
    if not words:
        assert all(name in told for name in COMMANDS)
        assert not any(name in told for name in HIDDEN)


def shell(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        env={**os.environ, **environment},
    )


def test_the_command_line_imports_nothing_heavy() -> None:
    script = f"import sys, unseen.cli; print([m for m in {HEAVY} if m in sys.modules])"
    done = shell("-c", script)
    assert (done.returncode, done.stdout.strip()) == (0, "[]"), done.stderr


def test_a_mistake_in_a_real_process(inputs: dict[str, Path], tmp_path: Path) -> None:
    inputs["edges"].write_text(EDGES + "a,z,1\n", encoding="utf-8")
    done = shell("-m", "unseen.cli", "classify", *options(inputs), "--out", tmp_path / "r")
    one_line((done.returncode, done.stdout, done.stderr), "unknown node 'z'")


def test_a_terminal_that_knows_no_arrows(inputs: dict[str, Path]) -> None:
    """Windows pipes are cp1252: neither arrows nor a class name may end in a traceback."""
    inputs["classes"].write_text(CLASSES + "Łódź,Ein Boot.\n", encoding="utf-8")
    labelled = NODES.replace("oven,", "oven,Music")
    inputs["nodes"].write_text(labelled + "e,ship,Łódź\nf,a song,\n", encoding="utf-8")
    done = shell("-m", "unseen.cli", "check", *options(inputs), PYTHONIOENCODING="cp1252")
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr

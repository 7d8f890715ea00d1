"""The tables of docs and README are what the records have, and the records can be made again."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import unseen
from unseen.paper.pages import blocks

ROOT = Path(__file__).parents[1]
CALIBRATION = 0.002  # what errors differ by since confidences are no lower than chance (0.9)
# points by which training and clusters differ where a processor, or a later version, adds up sums
# in another order
ROUNDING = {"dgpn": 0.5, "align": 0.2}
AGAIN = [  # runs of a few seconds each, over methods and data
    ("align", "cora", "features", "published", "I", (3, 4, 5, 6)),
    ("align", "citeseer", "features", "published", "II", (4, 5)),
    ("dap", "c-m10m", "features", "published", "I", (3, 4, 5)),
    ("eszsl", "citeseer", "features", "published", "I", (2, 3, 4, 5)),
    ("zs-gcn", "citeseer", "features", "published", "all splits", (0, 1, 3, 4)),
    ("dgpn", "c-m10m", "features", "published", "I", (3, 4, 5)),
    ("pipeline", "cora", "features", "static", "II", (4, 5, 6)),
    ("pipeline", "citeseer", "features", "static", "I", (2, 3, 4, 5)),
    ("pipeline", "c-m10m", "texts", "static", "no labels", tuple(range(6))),
    ("pipeline", "stdlib", "texts", "static", "no labels", tuple(range(23))),
]


@pytest.fixture(autouse=True)
def _scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("results", "benchmarks"):
        monkeypatch.syspath_prepend(ROOT / folder)


@pytest.mark.parametrize(
    ("page", "maker"),
    [
        ("docs/results.md", "tables"),
        ("README.md", "tables"),
        ("docs/reproduction.md", "tables"),
        ("docs/understand/confidence.md", "tables"),
        ("docs/understand/limitations.md", "tables"),
        ("docs/understand/related-work.md", "tables"),
        ("docs/scale.md", "page"),
    ],
)
def test_every_table_is_what_the_records_have(page: str, maker: str) -> None:
    made, text = import_module(maker), (ROOT / page).read_text(encoding="utf-8")
    assert blocks(text), "no table in the page"
    assert made.filled(text) == text, f"run the script that writes {page}"


def test_a_changed_number_is_noticed() -> None:
    made, text = import_module("tables"), (ROOT / "docs/results.md").read_text("utf-8")
    start = text.index("<!-- table ")
    digit = next(i for i in range(start, len(text)) if text[i].isdigit())
    changed = text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1 :]
    assert made.filled(changed) != changed


@pytest.mark.parametrize("path", sorted((ROOT / "results").glob("*.jsonl")), ids=lambda p: p.name)
def test_no_run_is_there_twice(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) == len(import_module("records").lines(path.name))


def test_every_run_is_one_that_the_script_would_make_again() -> None:
    methods = {"pipeline", "align", *import_runs().FITTED}
    assert {run["method"] for run, _ in import_module("records").lines()} <= methods


@pytest.mark.usefixtures("paper_data")
def test_recorded_runs_come_out_the_same(tmp_path: Path) -> None:
    from unseen.paper.ledger import Ledger
    from unseen.paper.work import each_alone, work

    module = import_runs()
    asked = [module.Run(*of, row=row, unseen=held, method=m) for m, *of, row, held in AGAIN]
    if sys.version_info[:2] != (3, 11):  # another standard library than the one recorded
        asked = [run for run in asked if run.graph != "stdlib"]
    again = Ledger(tmp_path)  # in processes of one thread each, as they were recorded
    work(each_alone(asked), again, lambda run: None, run=module.answer)
    for run in asked:
        outcome, version = recorded(run)
        for part, expected in outcome.items():
            changed = version != unseen.__version__ and run.nodes == "texts" and part == "pipeline"
            if part != "seconds" and not changed:  # defaults for texts change with the version
                rounding = ROUNDING.get(run.method, 0.0)
                assert close(again[run][part], expected, rounding), (run, part)


def import_runs() -> Any:
    """Return results/runs.py, which needs what the paper's methods need."""
    if find_spec("torch") is None or find_spec("numba") is None:
        pytest.skip('needs the extras: pip install "unseen[paper]"')
    return import_module("runs")


def recorded(run: Any) -> tuple[dict[str, Any], str]:
    """Return the outcome of a run, and the version that made it."""
    for text in (ROOT / "results/runs.jsonl").read_text("utf-8").splitlines():
        line = json.loads(text)
        if line["trial"] == json.loads(run.key()):
            return line["outcome"], line["versions"]["unseen"]
    raise LookupError(run)


def close(found: Any, expected: Any, rounding: float = 0.0) -> bool:
    """Compare to the last digit, but for confidences, their errors, and what rounding changes."""
    if not isinstance(expected, dict):
        return bool(found == expected)
    within = {"calibration error": CALIBRATION, "confidence": 100 * CALIBRATION}
    return all(
        abs(found[name] - value) <= within.get(name, rounding) for name, value in expected.items()
    )

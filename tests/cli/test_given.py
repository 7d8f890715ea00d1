"""No option is ignored: one that would say nothing is refused, and so is one given twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from topic_graph import Call

from .helpers import contents, one_line

CLASSIFY = "classify --nodes n.csv --classes c.csv"
DISK = f"{CLASSIFY} --edges e.csv --out o --engine disk"
CHECK = "check --nodes n.csv --classes c.csv"
EDGES = "--edges e.csv"
DESCRIBE = "describe --classes c.csv --out d.csv"
ASKED = f"{DESCRIBE} --endpoint http://127.0.0.1:1/v1 --model m"
IGNORED = {
    f"{CLASSIFY} --out o --directed": "directed: says how edges are read, but none are given",
    f"{CLASSIFY} --out o --source-column a": "source_column: says how edges are read",
    f"{CLASSIFY} --out o --target-column a --engine disk": "target_column: says how edges are",
    f"{CHECK} --directed": "directed: says how edges are read",
    "predict --model run --nodes n.csv --out o --directed": "directed: says how edges are read",
    f"{DISK} --spreadsheet": "spreadsheet: .*Parquet only",
    f"{DISK} --vocabulary v.txt --plan": "vocabulary: .*by 'disk'",
    f"{CLASSIFY} {EDGES} --out o --plan --address a": "address: .*give --engine ray",
    f"{CLASSIFY} {EDGES} --out o --plan --abstain 7": "abstain: expected a confidence",
    f"{CLASSIFY} {EDGES} --out o --quiet --verbose": "--quiet: and --verbose contradict",
    "suggest --run run --spreadsheet": "--spreadsheet: is about the .csv; name it with --out",
    "suggest --run run --errors --seed 3": "--seed: nothing is drawn",
    "suggest --run run --out o.parquet": r"o\.parquet: expected a name that ends in \.csv",
    "evaluate --predictions run --truth t.csv --report r.csv": r"r\.csv: expected .* \.html",
    f"{DESCRIBE} --sample 3": "--sample: is for a model that is asked",
    f"{DESCRIBE} --timeout 3": "--timeout: is for a model that is asked",
    f"{ASKED} --sample 3": "--sample: is about texts; name the nodes with --nodes",
    f"{ASKED} --text-columns t": "--text-columns: is about texts",
    "reproduce table3 --jobs 2 --address a --out o": "--jobs: is about processes of this machine",
    "reproduce table3 --trials 3 --out o": "--trials: says nothing to table3; it is for search",
    "reproduce data --seeds 3 --out o": "--seeds: says nothing to data",
    "reproduce table6 --methods dgpn --out o": "--methods: says nothing to table6",
}
TWICE = {
    f"{CLASSIFY} {EDGES} --out o --out p": "--out: is given twice, and the last would win",
    f"{CLASSIFY} --out o --text-columns title --text-columns body": "twice.*commas between",
    f"{CLASSIFY} --out o --seed 1 --seed 1": "--seed: is given twice",
    "evaluate --predictions run --truth t.csv --truth n.csv": "--truth: is given twice",
    "datasets export stdlib o --split demo --split demo": "--split: is given twice",
}


@pytest.fixture
def place(
    inputs: dict[str, Path], run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").symlink_to(run)
    (tmp_path / "t.csv").write_text("id,label\n0,Music\n1,Music\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("words", [*IGNORED, *TWICE])
def test_refused_in_one_line(words: str, call: Call, place: Path) -> None:
    before = contents(place)
    one_line(call(*words.split()), {**IGNORED, **TWICE}[words])
    assert contents(place) == before


def test_flags_may_be_said_twice(call: Call, place: Path) -> None:
    assert call(*f"{CHECK} {EDGES} --json --json".split())[0] == 0


def test_a_run_is_evaluated_by_its_folder(call: Call, place: Path) -> None:
    words = ("--truth", "t.csv", "--json")
    by_file = call("evaluate", "--predictions", "run/predictions.csv", *words)
    assert call("evaluate", "--predictions", "run", *words) == by_file
    assert by_file[0] == 0


def test_runs_on_disk_are_compared_with_those_in_memory(
    call: Call, inputs: dict[str, Path], tmp_path: Path
) -> None:
    given = [word for name, path in inputs.items() for word in (f"--{name}", path)]
    for engine in ("memory", "disk"):
        assert call("classify", *given, "--engine", engine, "--out", tmp_path / engine)[0] == 0
    code, told, complaint = call("compare", tmp_path / "memory", tmp_path / "disk", "--json")
    assert (code, complaint) == (0, "")
    assert '"changed": 0' in told
    one_line(call("compare", tmp_path / "memory", tmp_path / "memory" / "model"), "no predictions")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("where", ["2>&-", "2>/dev/full"])
def test_a_mistake_is_one_where_nothing_can_be_said(where: str, place: Path) -> None:
    command = f"{sys.executable} -P -m unseen.cli {CHECK} {EDGES} --encoder nonsense {where}"
    assert subprocess.run(["sh", "-c", command], check=False).returncode == 2

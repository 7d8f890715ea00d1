"""A model that somebody else wrote as a row of the tables, and what is said of one that is none."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from unseen.core.errors import InputError
from unseen.datasets.registry import load
from unseen.paper.methods import method_of
from unseen.paper.plan import Plan
from unseen.paper.reproduce import reproduce
from unseen.paper.trial import Trial, run

SOURCE = """
import numpy as np


class Nearest:
    '''Nothing of unseen but the contract: class means of hop 0, the CSD decides among the rest.'''

    def __init__(self, seed=0):
        self.seed = seed

    def fit(self, task):
        assert isinstance(task.X, np.ndarray)
        assert task.operator is not None
        assert not task.shared
        self.seen = task.seen
        return self

    def posterior(self, task):
        scores = np.random.default_rng(self.seed).random((task.nodes, task.classes))
        scores[:, self.seen] = 100  # not allowed: must not become an answer
        return scores


class Fixed:
    def fit(self, task):
        return self

    def posterior(self, task):
        return np.tile(np.eye(task.classes)[3], (task.nodes, 1))


class Unfinished:
    def fit(self, task):
        return self


class Needy:
    def __init__(self, width):
        self.width = width


class Wrong(Fixed):
    def posterior(self, task):
        return np.zeros((task.nodes, 2))


NUMBER = 3
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Stand in a folder that holds a small package."""
    folder = tmp_path / "ourmodels"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "zero.py").write_text(SOURCE, "utf-8")
    (folder / "broken.py").write_text("import no_such_package\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield folder
    for name in [name for name in sys.modules if name.startswith("ourmodels")]:
        del sys.modules[name]


@pytest.mark.usefixtures("paper_data")
def test_its_row_stands_beside_those_of_the_paper(package: Path, tmp_path: Path) -> None:
    """In processes of their own, which have to find the package as well."""
    plan = Plan(seeds=2, methods=("ourmodels.zero:Nearest", "ourmodels.zero:Fixed", "random"))
    for table in ("table3", "table4", "table5"):
        first, *_ = reproduce(table, plan, tmp_path / "out", jobs=2)[0].sheets
        rows = {row[0]: row for row in first.rows}
        assert [*rows] == ["Majority (floor)", "RandomGuess", "Nearest", "Fixed"]
        assert rows["Nearest"][1] != rows["Nearest"][4] != "not run"
        assert rows["Nearest"][-1].startswith("-")  # nothing was printed of it
        note = next(note for note in first.notes if note.startswith("Runs: "))
        assert "Nearest 2" in note
        assert "Fixed 1" in note  # without a seed all runs are the same
    split_two = reproduce("table3", plan, tmp_path / "out", jobs=1)[0].sheets[1]
    assert "No search was made for Nearest; Fixed: their defaults." in split_two.notes


@pytest.mark.usefixtures("paper_data")
def test_it_answers_among_the_classes_that_are_asked_for(package: Path) -> None:
    outcome = run(Trial("cora", "I", "ourmodels.zero:Nearest"))
    assert outcome["classes given"] == 4
    assert 20 < outcome["accuracy"] < 30  # a guess among four
    data = load("cora")
    unseen = data.truth.codes[np.isin(data.truth.codes, data.splits["I"].unseen)]
    fixed = run(Trial("cora", "I", "ourmodels.zero:Fixed"))
    assert fixed["accuracy"] == pytest.approx(100 * (unseen == 3).mean())
    with pytest.raises(InputError, match=r"Wrong.posterior has to return probabilities of shape"):
        run(Trial("cora", "I", "ourmodels.zero:Wrong"))


def test_a_changed_file_is_run_again(package: Path) -> None:
    before = Plan(methods=("ourmodels.zero:Fixed",)).cell("ourmodels.zero:Fixed", "cora").trials
    (package / "zero.py").write_text(SOURCE + "\n# changed\n", "utf-8")
    after = Plan(methods=("ourmodels.zero:Fixed",)).cell("ourmodels.zero:Fixed", "cora").trials
    assert len(before) == len(after) == 1
    assert before[0].key() != after[0].key()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere.zero:Nearest", r"there is no module 'nowhere.zero' in .* start the command in"),
        ("ourmodels.one:Nearest", r"there is no module 'ourmodels.one' in "),
        ("ourmodels.broken:Model", r"ourmodels.broken imports 'no_such_package', which is not"),
        ("ourmodels.zero:Farthest", r"no class 'Farthest'; it has 'Nearest', 'Fixed', 'Wrong'"),
        ("ourmodels.zero:NUMBER", r"no class 'NUMBER'; it has 'Nearest'"),
        ("ourmodels.zero:Unfinished", r"needs fit\(task\) and posterior\(task\), and lacks post"),
        ("ourmodels.zero:Needy", r"cannot be made without arguments .*'width'\); give them def"),
        ("our models:Nearest", r"expected package.module:Class, found 'our models:Nearest'"),
        ("Nearest", r"there is no 'Nearest'; those known: majority, .* package.module:Class"),
    ],
)
def test_what_cannot_be_a_row_is_refused_with_a_sentence(
    package: Path, name: str, message: str
) -> None:
    with pytest.raises(InputError, match=r"^--methods: .*" + message):
        Plan(methods=("dgpn", name))


def test_a_model_of_the_library_is_found_by_its_path() -> None:
    found = method_of("unseen.models.dgpn.model:DGPN")
    assert (found.label, found.seeds) == ("DGPN", 10)

"""The labels of unseen classes change no answer: shuffled, deleted, or lying about in other files.

Each test starts from truths that differ on nodes of unseen classes only, hides what a model may
not see, does the whole job, and compares every bit that comes out. Jobs that leak on purpose show
that the comparison would notice.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import unseen
import unseen.cli
from topic_graph import Sample, bag_of_words, sample, write_files
from unseen.core.classes import Classes
from unseen.core.graph import Graph
from unseen.core.labels import Labels, Split
from unseen.datasets.export import export
from unseen.datasets.registry import Dataset
from unseen.evaluate.protocol import generalised, hold_out
from unseen.prediction import Prediction

Rule = Callable[[Labels], Labels]  # what a model may see of the truth
Job = Callable[[Labels, Labels], bytes]  # the truth, what may be seen of it: all that came out
THREE_SEEN = Split(seen=(0, 1, 2), validation=(), unseen=(3, 4))
FOUR_SEEN = Split(seen=(0, 1, 2, 3), validation=(), unseen=(4,))  # enough to choose settings by
TIMES = ("created", "seconds", "steps")  # of a record, which differ from run to run


pytestmark = pytest.mark.usefixtures("quick_map")


@pytest.fixture(scope="module")
def given() -> Sample:
    return sample(per_class=12, topical=2)


def plain(split: Split) -> Rule:
    return lambda truth: hold_out(truth, split)


def mixed(split: Split) -> Rule:
    return lambda truth: generalised(truth, split, seed=1, share=0.5)[0]


def other_truths(truth: Labels, split: Split) -> list[Labels]:
    """Return truths that differ on the nodes of unseen classes, and only there."""
    hidden = np.flatnonzero(np.isin(truth.codes, split.unseen))
    shuffled, deleted = truth.codes.copy(), truth.codes.copy()
    shuffled[hidden] = np.random.default_rng(1).permutation(shuffled[hidden])
    deleted[hidden] = -1
    found = [Labels(other) for other in (shuffled, deleted) if (other != truth.codes).any()]
    assert len(found) == min(len(split.unseen), 2)
    return found


def leaks(job: Job, rule: Rule, truth: Labels, split: Split) -> bool:
    first = job(truth, rule(truth))
    return any(job(other, rule(other)) != first for other in other_truths(truth, split))


def all_of(prediction: Prediction) -> bytes:
    """Return all that came out, but for times."""
    record = {key: value for key, value in prediction.record.items() if key not in TIMES}
    arrays = (prediction.label, prediction.runner_up, prediction.proba, prediction.hop_shares)
    return b"\n".join(
        [
            prediction.to_polars().write_csv().encode(),
            json.dumps(record, sort_keys=True).encode(),
            *(array.tobytes() for array in (*arrays, prediction.vectors)),
        ]
    )


def in_words(graph: Graph, named: bool) -> Graph:
    """Return the graph with counts of words instead of texts."""
    counts, vocabulary = bag_of_words(graph)
    words = vocabulary if named else None
    return Graph(graph.adjacency, features=counts, ids=graph.ids, vocabulary=words)


FORMS: dict[str, Callable[[Graph], Graph]] = {
    "texts": lambda graph: graph,
    "words": lambda graph: in_words(graph, named=True),
    "features": lambda graph: in_words(graph, named=False),
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())


# The pipeline.


@every_form
@pytest.mark.parametrize("split", [THREE_SEEN, FOUR_SEEN], ids=["three seen", "four seen"])
@pytest.mark.parametrize(("among", "protocol"), [("unseen", plain), ("all", mixed)])
def test_classify(
    among: Any,
    protocol: Callable[[Split], Rule],
    split: Split,
    form: Callable[[Graph], Graph],
    given: Sample,
) -> None:
    graph = form(given.graph)

    def job(truth: Labels, known: Labels) -> bytes:
        return all_of(unseen.classify(graph, given.classes, known, among=among))

    assert not leaks(job, protocol(split), Labels(given.truth), split)


def test_predict_with_a_saved_model(given: Sample) -> None:
    def job(truth: Labels, known: Labels) -> bytes:
        fitted = unseen.ZeroShotNodeClassifier(abstain=0.6)
        fitted.fit(given.graph, given.classes, known)
        more = given.classes.joined(Classes(["History", "Music"]))
        return all_of(fitted.explain(given.graph, more, known))

    assert not leaks(job, mixed(THREE_SEEN), Labels(given.truth), THREE_SEEN)


def test_added_nodes_and_classes(given: Sample) -> None:
    new = pl.DataFrame({"id": ["new"], "text": ["a general report"]})
    edges = pl.DataFrame({"source": ["new"] * 5, "target": ["0", "1", "2", "3", "4"]})

    def job(truth: Labels, known: Labels) -> bytes:
        fitted = unseen.ZeroShotNodeClassifier().fit(given.graph, given.classes, known)
        added = all_of(fitted.add_nodes(new, edges))
        return added + all_of(fitted.add_classes(["History"]).explain())

    assert not leaks(job, mixed(THREE_SEEN), Labels(given.truth), THREE_SEEN)


@every_form
def test_a_job_that_knew_everything_leaves_nothing_behind(
    form: Callable[[Graph], Graph],
    given: Sample,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither in the process nor in the cache of vectors."""
    graph, truth = form(given.graph), Labels(given.truth)
    known = hold_out(truth, THREE_SEEN)
    before = all_of(unseen.classify(graph, given.classes, known))
    almost = truth.codes.copy()
    almost[::10] = -1
    unseen.classify(graph, given.classes, Labels(almost))
    assert all_of(unseen.classify(graph, given.classes, known)) == before
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "empty"))
    assert all_of(unseen.classify(graph, given.classes, known)) == before


# Jobs that leak on purpose are caught.


def test_descriptions_written_after_a_look_at_the_nodes(given: Sample) -> None:
    texts = given.graph.texts or ()

    def job(truth: Labels, known: Labels) -> bytes:
        about = []
        for c, text in enumerate(given.classes.descriptions or ()):
            first = np.flatnonzero(truth.codes == c)[:1]
            about.append(" ".join([text or "", *(texts[i] for i in first)]))
        return all_of(unseen.classify(given.graph, Classes(given.classes.names, about), known))

    assert leaks(job, plain(THREE_SEEN), Labels(given.truth), THREE_SEEN)


@every_form
def test_labels_that_were_hidden_too_late(form: Callable[[Graph], Graph], given: Sample) -> None:
    graph = form(given.graph)

    def job(truth: Labels, known: Labels) -> bytes:
        return all_of(unseen.classify(graph, given.classes, known))

    def rule(truth: Labels) -> Labels:
        return Labels(np.where(np.arange(len(truth.codes)) % 2, truth.codes, -1))

    assert leaks(job, rule, Labels(given.truth), THREE_SEEN)


# The command line, where more lies about.


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    def run(*words: object) -> None:
        monkeypatch.setattr(sys, "argv", ["unseen", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            unseen.cli.main()
        assert ended.value.code in (0, None)

    return run


def classify(call: Callable[..., None], paths: dict[str, Path], out: Path) -> dict[str, Any]:
    """Run the command and return all files of the run by name, but for times."""
    words = [word for name in ("nodes", "edges", "classes") for word in (f"--{name}", paths[name])]
    call("classify", *words, "--out", out)
    return files_of(out)


def files_of(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = {
        str(path.relative_to(run)): path.read_bytes()
        for path in run.rglob("*")
        if path.is_file() and path.name not in ("manifest.json", "report.html")
    }
    record = json.loads(found["record.json"])
    return found | {"record.json": {k: v for k, v in record.items() if k not in TIMES}}


def write_truth(path: Path, truth: Labels, given: Sample) -> Path:
    names = [*given.classes.names, ""]
    table = {"id": list(given.graph.ids or ()), "label": [names[c] for c in truth.codes]}
    pl.DataFrame(table).write_csv(path)
    return path


def test_a_truth_file_beside_the_inputs(
    call: Callable[..., None], given: Sample, tmp_path: Path
) -> None:
    found = []
    truth = Labels(given.truth)
    for k, other in enumerate([truth, *other_truths(truth, THREE_SEEN)]):
        paths = write_files(tmp_path / str(k), given, hold_out(other, THREE_SEEN))
        write_truth(tmp_path / str(k) / "truth.csv", other, given)
        found.append(classify(call, paths, tmp_path / str(k) / "run"))
    assert found[0] == found[1] == found[2]


def test_an_earlier_run_in_the_same_place_that_knew_everything(
    call: Callable[..., None], given: Sample, tmp_path: Path
) -> None:
    known = hold_out(Labels(given.truth), THREE_SEEN)
    paths = write_files(tmp_path / "in", given, known)
    first = classify(call, paths, tmp_path / "run")
    almost = given.truth.copy()
    almost[::10] = -1
    told = classify(call, write_files(tmp_path / "told", given, Labels(almost)), tmp_path / "run")
    assert told["predictions.csv"] != first["predictions.csv"]  # the comparison is not blind
    assert classify(call, paths, tmp_path / "run") == first


def test_evaluation_leaves_the_run_as_it_was(
    call: Callable[..., None], given: Sample, tmp_path: Path
) -> None:
    known = hold_out(Labels(given.truth), THREE_SEEN)
    run = tmp_path / "run"
    before = classify(call, write_files(tmp_path, given, known), run)
    manifest = (run / "manifest.json").read_bytes()
    truth = write_truth(tmp_path / "truth.csv", Labels(given.truth), given)
    call("evaluate", "--predictions", run / "predictions.csv", "--truth", truth)
    assert files_of(run) == before
    assert (run / "manifest.json").read_bytes() == manifest


def test_numbers_beside_texts_and_sizes_beside_classes(
    call: Callable[..., None], given: Sample, tmp_path: Path
) -> None:
    """A class number of each node and a size of each class may lie in the files: unread."""
    answers = []
    truth = Labels(given.truth)
    for k, other in enumerate([truth, *other_truths(truth, THREE_SEEN)]):
        paths = write_files(tmp_path / str(k), given, hold_out(other, THREE_SEEN))
        for name, column in (
            ("nodes", other.codes),
            ("classes", [int((other.codes == c).sum()) for c in range(len(given.classes))]),
        ):
            table = pl.read_csv(paths[name], schema_overrides={"id": pl.String})
            table.with_columns(number=pl.Series(column)).write_csv(paths[name])
        found = classify(call, paths, tmp_path / str(k) / "run")
        answers.append({name: found[name] for name in ("predictions.csv", "map.parquet")})
    assert answers[0] == answers[1] == answers[2]


def test_an_exported_data_set(call: Callable[..., None], given: Sample, tmp_path: Path) -> None:
    """Only truth.csv tells what the unseen nodes are; what is read from the rest is the same."""
    truth = Labels(given.truth)
    whole = Dataset("topics", given.graph, given.classes, truth, {"demo": THREE_SEEN})
    inputs, found = [], []
    for k, other in enumerate([truth, *other_truths(truth, THREE_SEEN)]):
        written = export(replace(whole, truth=other), tmp_path / str(k), "demo")
        paths = {path.stem: path for path in written}
        inputs.append({name: path.read_bytes() for name, path in paths.items()})
        found.append(classify(call, paths, tmp_path / str(k) / "run"))
    assert len({each.pop("truth") for each in inputs}) == 3
    assert inputs[0] == inputs[1] == inputs[2]
    assert found[0] == found[1] == found[2]

"""The zoo: a builder and class texts for every graph, a fixed fraction of tasks, and its tables."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

RESULTS = Path(__file__).parents[2] / "results"
DESIGN = {
    *("airports", "anniversaries", "bioinformatics", "cloud", "companies", "computing"),
    *("database_manual", "demarches", "diagnostics", "emojis", "films", "gis", "handbuch"),
    *("hardening", "icd10", "iconografia", "icons", "industries", "items", "journals", "kanji"),
    *("kernel", "languages", "luoghi", "manuales", "motifs", "numerics", "officehelp", "openings"),
    *("packages", "phenotypes", "pokemon", "quotations", "reactions", "scilab", "subdivisions"),
    *("symbols", "synthesis", "terms", "theorems", "verbs", "weaknesses", "webplatform", "webster"),
}
FRESH = {
    *("building", "chapters", "components", "creatures", "dungeon", "endpoints", "exercises"),
    *("foods", "instruments", "komunikaty", "licences", "mediatypes", "notacion", "printers"),
    *("rural", "scripts"),
}


@pytest.fixture(autouse=True)
def _scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(RESULTS)


@pytest.fixture
def zoo() -> Any:
    pytest.importorskip("torch")
    return import_module("zoo")


def test_every_graph_has_a_builder_and_class_texts() -> None:
    catalogue = import_module("graphs.catalogue")
    rooms = {"__init__", "catalogue", "sources"}
    files = {path.stem for path in (RESULTS / "graphs").glob("*.py")} - rooms
    assert files == set(catalogue.names())
    for graph, classes in catalogue.class_texts().items():
        assert callable(import_module(f"graphs.{graph}").build)
        for text in classes.values():
            assert text.keys() == {"sentence", "paragraph"}
            assert len(text["sentence"]) < len(text["paragraph"])


def test_the_sets_are_fixed_and_the_readme_names_them() -> None:
    catalogue = import_module("graphs.catalogue")
    assert set(catalogue.names("design")) == DESIGN
    assert set(catalogue.names("fresh")) == FRESH == catalogue.FRESH
    assert set(catalogue.names()) == DESIGN | FRESH
    about = (RESULTS / "graphs" / "README.md").read_text("utf-8")
    for graph in catalogue.names():
        assert f"| {graph} | {catalogue.set_of(graph)} |" in about


def test_a_look_is_counted_for_fresh_graphs_only(
    zoo: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(zoo, "HERE", tmp_path)
    zoo.count_look(DESIGN, "static")
    assert not list(tmp_path.iterdir())
    zoo.count_look({"films", "icons", "foods", "rural"}, "static")
    assert (tmp_path / zoo.LOOKS).read_text("utf-8").endswith(" | static | 2 |\n")


def test_what_many_hold_joins_nothing() -> None:
    sharing = import_module("graphs.sources").sharing
    holders = {"red": ["c", "a", "a"], "round": ["a", "b", "c"], "rare": ["b"]}
    assert sharing(holders, most=2) == [("a", "c")]
    assert sharing(holders, most=3) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_the_tasks_of_a_graph_are_the_fixed_fraction(zoo: Any) -> None:
    found = [task for encoder in ("static", "minilm") for task in zoo.tasks("kanji", encoder)]
    assert len({task.key() for task in found}) == len(found)
    counted = Counter((task.encoder, task.labels, task.edges) for task in found)
    assert counted == {
        ("static", "none", "asis"): 6,
        ("static", "half", "asis"): 1,
        ("static", "five", "asis"): 1,
        ("static", "none", "rewired"): 2,
        ("minilm", "none", "asis"): 4,
    }
    assert {task.listed for task in found if task.labels != "none"} == {"all"}


def specimen() -> Any:
    """Return twelve nodes of each class of "verbs" in a ring; nothing is fetched."""
    catalogue = import_module("graphs.catalogue")
    names = list(catalogue.class_texts()["verbs"])
    truth = np.repeat(np.arange(len(names)), 12)
    ring = np.arange(len(truth))
    texts = [f"{names[c]} {i}" for i, c in enumerate(truth)]
    return catalogue.Specimen(texts, truth, np.stack([ring, np.roll(ring, -1)], axis=1), False)


@pytest.mark.parametrize(
    ("listed", "labels", "edges", "nodes"),
    [
        ("all", "none", "asis", 14 * 12),
        ("half", "none", "rewired", 7 * 12),
        ("all", "half", "asis", 7 * 12),
        ("all", "five", "asis", 14 * 7),
    ],
)
def test_a_task_is_measured_on_the_nodes_in_question(
    zoo: Any, monkeypatch: pytest.MonkeyPatch, listed: str, labels: str, edges: str, nodes: int
) -> None:
    monkeypatch.setattr(zoo.catalogue, "load", lambda name: specimen())
    task = zoo.ZooTask("verbs", "name", listed, labels, edges, "static")
    outcome = zoo.run(task)
    assert outcome["nodes"] == nodes
    assert outcome["classes"] == (7 if listed == "half" else 14)
    assert (outcome["auroc"] is None) == (listed == "all")
    assert outcome["majority"] == pytest.approx(100 / (nodes / (7 if labels == "five" else 12)))
    assert outcome["own encoder"]["accuracy"] > 50  # a node's text names its class
    assert outcome["true homophily"] > 0.9 or edges == "rewired"
    again = zoo.run(task)
    assert {**outcome, "seconds": 0} == {**again, "seconds": 0}


def outcome(defaults: float, own: float, hops: float, auroc: float | None = None) -> dict[str, Any]:
    def scores(value: float) -> dict[str, float]:
        return {"accuracy": value, "macro": value - 10}

    return {
        "defaults": {**scores(defaults), "calibration error": 0.1},
        "own encoder": scores(own),
        "hops encoder": scores(hops),
        "own prepared": scores(own + 1),
        "hops prepared": scores(hops + 1),
        "auroc": auroc,
        **{"homophily": 0.5, "true homophily": 0.4, "nodes": 1200, "classes": 7, "seconds": 1},
    }


def asked(listed: str, labels: str = "none", graph: str = "kanji") -> dict[str, Any]:
    task = {"graph": graph, "listed": listed, "labels": labels, "edges": "asis"}
    return task | {"encoder": "static", "texts": "name", "seed": 0}


LINES = [
    (asked("all"), outcome(60, 50, 55)),
    (asked("all", graph="icd10"), outcome(50, 56, 40)),
    (asked("half"), outcome(70, 60, 61, auroc=0.8)),
    (asked("all", "five"), outcome(80, 60, 50)),
]


def test_gains_are_over_the_better_floor_task_by_task() -> None:
    tables = import_module("zoo_tables")
    rows = {row.split(" | ")[0]: row for row in tables.by_kind(LINES).splitlines()}
    assert rows["| no labels, all classes listed"] == (
        "| no labels, all classes listed | 2 | -0.5 / -0.5 | -6.0 / -6.0 | 1 / 1 "
        "| -1.5 / -1.5 | -7.0 / -7.0 | 1 / 1 | 0.10 | 0.10 | – |"
    )
    assert rows["| no labels, half of them listed"].endswith("| 0.80 |")
    assert rows["| no labels, together"].startswith("| no labels, together | 3 | +2.7 / +2.7 |")
    assert "| half of the classes labelled" not in rows  # there was no such task


def test_a_graph_has_one_row_over_its_tasks_without_labels() -> None:
    _, _, *rows = import_module("zoo_tables").by_graph(LINES).splitlines()
    assert [row.split(" | ")[0] for row in rows] == ["| icd10", "| kanji"]
    assert rows[1].startswith("| kanji | 1,200 | 7 | 0.40 | 0.50 | 65.0 | 55.0 | +7.0 / +7.0 |")


def test_expected_accuracies_are_those_of_the_records() -> None:
    from unseen.select.default import EXPECTED, EXPECTED_BY_WORDS

    found = import_module("confidence").coefficients
    assert found(by_words=False) == EXPECTED
    assert found(by_words=True) == EXPECTED_BY_WORDS

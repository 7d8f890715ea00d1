"""The records beside this file, and the cells of tables that are made of them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

from unseen.paper.ledger import Ledger

HERE = Path(__file__).parent
RUNS, ZOO = "runs.jsonl", "zoo.jsonl"
TEACH = "teach.jsonl"  # 50 labels, suggested and at random
BEFORE_ZOO = "zoo_before.jsonl"  # tasks without labels, answered by the model of 0.8
NONE = "–"  # a cell without a figure
NAMES = {"c-m10m": "C-M10M", "stdlib": "stdlib", "cora": "Cora", "citeseer": "Citeseer"}
SPLITS = {"cora": 35, "citeseer": 15, "c-m10m": 20}  # ways to choose as many seen classes as I has
READ_BY = {"published": "published", "static": "open, static", "minilm": "open, minilm+static"}
BEFORE = "one_sentence.jsonl"  # runs of 0.4.0, when a class had one sentence
UNCORRECTED = "uncorrected.jsonl"  # runs of 0.5.0, when nothing corrected confidences
K_MEANS = "one_cluster_a_class.jsonl"  # runs of 0.5.0, when a class had one cluster
WHOLE_TEXTS = "whole_texts.jsonl"  # runs of 0.10.0, when class texts were compared as a whole
TEXT_ROWS = [
    ("c-m10m", "I"),
    ("c-m10m", "II"),
    ("c-m10m", "no labels"),
    ("c-m10m", "all splits"),
    ("stdlib", "demo"),
    ("stdlib", "10 draws of 8"),
    ("stdlib", "no labels"),
]
FEATURE_ROWS = [(graph, part) for graph in SPLITS for part in ("I", "II", "all splits")]
ENCODERS = ("static", "minilm", "static+minilm")

Line = tuple[dict[str, Any], dict[str, Any]]  # what was asked, and what came out
Outcomes = list[dict[str, Any]]


@cache
def lines(file: str = RUNS) -> list[Line]:
    """Return every run of a file with its outcome."""
    return list(Ledger(HERE, file).lines())


def mean(found: Outcomes, part: str, value: str = "accuracy", digits: int = 1) -> str:
    """Return the mean, with the deviation where the runs differ."""
    values = [each[part][value] for each in found if part in each]
    if not values:
        return NONE
    spread = f" ± {pstdev(values):.{digits}f}" if pstdev(values) >= 0.5 * 10**-digits else ""
    return f"{fmean(values):.{digits}f}{spread}"


def average(found: Outcomes, part: str, value: str = "accuracy", digits: int = 1) -> str:
    """Return the mean alone."""
    return f"{fmean(each[part][value] for each in found):.{digits}f}" if found else NONE


def floor(found: Outcomes) -> str:
    """Return the mean of the majority floors."""
    return f"{fmean(each['floor'] for each in found):.1f}" if found else NONE


def pick(file: str = RUNS, **asked: Any) -> Outcomes:
    """Return the answers of the runs that have these settings."""
    plain: dict[str, Any] = {"generalised": False, "rewired": False}
    wanted = plain | asked
    found = [
        outcome
        for run, outcome in lines(file)
        if all(run[name] == value for name, value in wanted.items())
    ]
    whole = {"all splits": SPLITS.get(asked["graph"], 0), "10 draws of 8": 10}
    # a mean over some of the splits would mislead
    return found if len(found) >= whole.get(asked.get("row", ""), 0) else []


def over_time(files: tuple[str, ...], graph: str, row: str, nodes: str, csds: str) -> list[str]:
    """Return the accuracies of the defaults by the file that has the runs."""
    asked = {"graph": graph, "row": row, "nodes": nodes, "csds": csds, "method": "pipeline"}
    return [mean(pick(file, **asked), "pipeline", "accuracy") for file in files]


def row_name(graph: str, row: str) -> str:
    words = {
        "no labels": "all classes, no labels",
        "all splits": "mean over all splits of I's sizes",
    }
    return f"{NAMES[graph]}: {words.get(row, f'split {row}' if len(row) < 5 else row)}"

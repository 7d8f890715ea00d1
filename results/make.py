"""Make results/text_graphs.json again: accuracy of the defaults where nodes have texts.

    python results/make.py            stdlib; C-M10M too where `unseen datasets get c-m10m` or
                                      UNSEEN_DATA has made it available
    python results/make.py --minilm   the same with the minilm encoder, into minilm.json

The settings are the defaults of `classify`. Those were designed on these two graphs with their
answers in view, so the figures say how well the design fits them, not how well it would do on a
graph that nobody has looked at; docs/architecture.md lists what was changed after a look.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np

import unseen
from unseen.datasets.registry import Dataset, load
from unseen.errors import UnseenError
from unseen.evaluate.metrics import accuracy, calibration, macro_accuracy, majority_floor
from unseen.evaluate.protocol import all_splits
from unseen.models.prototype import Prototype
from unseen.propagate.hops import Hops

DRAWS = 10  # of eight held-out sections, beside the fixed ones of the demonstration


def measure(data: Dataset, seen: tuple[int, ...], encoder: str) -> dict[str, float]:
    """Return the scores of one run with labels of these classes, in per cent."""
    began = time.perf_counter()
    among = "unseen" if seen else "all"
    known = data.truth.only(seen)
    found = unseen.classify(data.graph, data.classes, known, among=among, encoder=encoder)
    truth = data.truth.of[found.nodes]
    correct = found.label == truth
    return {
        "floor": 100 * majority_floor(truth),
        "text only": 100 * accuracy(truth, text_only(found, known.of, seen)),
        "accuracy": 100 * accuracy(truth, found.label),
        "macro": 100 * macro_accuracy(truth, found.label),
        "calibration error": calibration(found.confidence, correct).error,
        "seconds": time.perf_counter() - began,
    }


def text_only(found: unseen.Prediction, labels: np.ndarray, seen: tuple[int, ...]) -> np.ndarray:
    """Return what the class texts alone say about each node: no graph, nothing learned."""
    from unseen.encode.space import embed

    space = embed(found.graph, found.classes, found.classifier.encoder)
    X = space.nodes - found.classifier.node_centre
    hops = Hops((X,), np.ones(1, np.float32))
    S = found.classifier.csds_of(space)
    among = ~np.isin(np.arange(len(S)), seen)
    return Prototype().fit(hops, labels, S).predict(hops, among)[found.nodes]


def settings(data: Dataset) -> dict[str, list[tuple[int, ...]]]:
    """Return the seen classes of each run, under the name of the row they are averaged into."""
    rows: dict[str, list[tuple[int, ...]]] = {"all classes, no labels": [()]}
    rows |= {  # labels of validation classes are there to choose by, as in the paper
        f"split {name}": [split.seen + split.validation] for name, split in data.splits.items()
    }
    count = len(data.classes)
    if data.name == "stdlib":
        draw = np.random.default_rng(0)
        held = [set(draw.permutation(count)[:8].tolist()) for _ in range(DRAWS)]
        rows[f"mean of {DRAWS} random draws of 8 sections"] = [
            tuple(c for c in range(count) if c not in out) for out in held
        ]
    else:
        rows["mean over all splits of I's sizes"] = [
            split.seen for split in all_splits(count, len(data.splits["I"].seen))
        ]
    return rows


def main() -> None:
    """Run every setting and write the record."""
    encoder = "minilm" if "--minilm" in sys.argv else "static"
    record: dict[str, object] = {
        "command": " ".join(["python results/make.py", *sys.argv[1:]]),
        "encoder": encoder,
        "unseen": unseen.__version__,
        "python": sys.version.split()[0],
        "rows": {},
    }
    for name in ("stdlib", "c-m10m"):
        try:
            data = load(name)
        except UnseenError as error:
            print(f"{name} left out: {error}")
            continue
        for row, runs in settings(data).items():
            scores = [measure(data, seen, encoder) for seen in runs]
            mean = {key: float(np.mean([s[key] for s in scores])) for key in scores[0]}
            mean["deviation"] = float(np.std([s["accuracy"] for s in scores]))
            record["rows"][f"{name}: {row}"] = {"runs": len(runs), **mean}  # type: ignore[index]
            print(f"{name}: {row}", {key: round(value, 2) for key, value in mean.items()})
    target = Path(__file__).parent / ("minilm.json" if encoder == "minilm" else "text_graphs.json")
    target.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""Peers of other kinds with the same inputs as the defaults, on some design graphs of the zoo.

    python results/text_peers.py         run what is missing, then print the table of the page

- **SetFit** (Tunstall et al., 2022), its recipe for no labels, written out below: eight sentences
  "This sentence is NAME" a class, contrastive pairs, one epoch, then logistic regression. With
  paragraphs, their sentences are examples as well. It reads texts, and no edges.
- **BERTopic** (Grootendorst, 2022) with a list of topics, its assignment written out below: the
  most similar class text wins. Its threshold leaves the rest to clusters without a name; here every
  node is assigned, and the share that reaches the threshold is kept beside.
- **DGPN** (Wang et al., 2021), all nodes of half of the classes labelled, the others asked for.

SetFit and BERTopic read texts by all-MiniLM-L6-v2, the weights of the encoder "minilm", and stand
beside the defaults with that encoder; DGPN has the vectors of the encoder "static", as prepared.
Graphs: the five smallest of the first 26 graphs with 20 classes or fewer; contrastive pairs of many
classes take hours on a processor.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from graphs import catalogue
from numpy.typing import NDArray
from records import HERE, NONE, ZOO
from runner import run_missing
from zoo import ZooTask, _known, inputs

import unseen
from unseen.core.arrays import unit
from unseen.core.classes import Classes
from unseen.core.labels import Labels
from unseen.encode.transformer import MINILM_PACKAGE
from unseen.evaluate.metrics import accuracy, macro_accuracy
from unseen.paper.ledger import Ledger
from unseen.paper.pages import markdown
from unseen.paper.trial import Outcome

FILE = "text_peers.jsonl"
SMALLEST = ("weaknesses", "database_manual", "handbuch", "numerics", "icd10")
TEXTS = ("name", "paragraph")
TEMPLATE, EXAMPLES = "This sentence is {}", 8  # of SetFit's own recipe
ITERATIONS = 10  # pairs of each kind an example
BATCH = 16
THRESHOLD = 0.7  # of BERTopic: nodes below it go to clusters without a name
LENGTH = 256  # tokens that are read


@dataclass(frozen=True)
class Peer:
    """One method on one graph; `texts` and `labels` as in `ZooTask`."""

    method: str
    graph: str
    texts: str
    labels: str

    def key(self) -> str:
        """Return the trial as a line of text."""
        return json.dumps(asdict(self), sort_keys=True)

    def task(self) -> ZooTask:
        """Return the task of the zoo that it answers."""
        encoder = "static" if self.method == "DGPN" else "minilm"
        return ZooTask(self.graph, self.texts, "all", self.labels, "asis", encoder)


def asked() -> list[Peer]:
    """Return all trials, those of one graph together."""
    texts = [
        Peer(method, graph, which, "none")
        for graph in SMALLEST
        for which in TEXTS
        for method in ("SetFit", "BERTopic")
    ]
    return [Peer("DGPN", graph, "paragraph", "half") for graph in SMALLEST] + texts


@cache
def minilm() -> Any:
    """Return all-MiniLM-L6-v2 as sentence-transformers has it, from the wheel."""
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(files(MINILM_PACKAGE) / "model"), device="cpu")
    model.max_seq_length = LENGTH
    return model


@cache
def vectors(graph: str) -> NDArray[np.float32]:
    """Return the vectors of all nodes. [n, d]"""
    found: NDArray[np.float32] = minilm().encode(catalogue.load(graph).texts)
    return found


def class_texts(classes: Classes, texts: str) -> list[str]:
    """Return what describes each class: its name, with its paragraph if there is one."""
    if texts == "name":
        return list(classes.names)
    told = zip(classes.names, classes.descriptions or (), strict=True)
    return [f"{name}: {text}" for name, text in told]


def examples(classes: Classes, texts: str) -> tuple[list[str], list[int]]:
    """Return sentences about each class, and the class of each.

    >>> examples(Classes(["a"], ["One thing. Another."]), "paragraph")[0][-2:]
    ['One thing.', 'Another.']
    """
    said: list[str] = []
    of: list[int] = []
    told = classes.descriptions or [""] * len(classes)
    for c, name in enumerate(classes.names):
        own = [TEMPLATE.format(name)] * EXAMPLES
        if texts == "paragraph":
            own += re.split(r"(?<=[.;:])\s+", (told[c] or "").strip())
        said += own
        of += [c] * len(own)
    return said, of


def pairs(of: NDArray[np.int64], draw: np.random.Generator) -> list[tuple[int, int, float]]:
    """Return pairs of examples in random order, with 1 for those of one class and 0 for others."""
    found = []
    for i, c in enumerate(of.tolist()):
        for wanted, rows in ((1.0, np.flatnonzero(of == c)), (0.0, np.flatnonzero(of != c))):
            found += [(i, int(j), wanted) for j in draw.choice(rows, ITERATIONS)]
    return [found[k] for k in draw.permutation(len(found)).tolist()]


def set_fit(graph: str, classes: Classes, texts: str) -> NDArray[np.int64]:
    """Return what the encoder says, tuned to sentences about the classes, with a linear head. [n]

    The cosine of a pair is drawn to 1 within a class and to 0 between classes (squared error,
    AdamW, 2e-5, a tenth of the steps to warm up, batches of 16), as in SetFit's own code.
    """
    import torch
    from sklearn.linear_model import LogisticRegression

    torch.manual_seed(0)
    said, of = examples(classes, texts)
    model = copy.deepcopy(minilm()).train()
    told = pairs(np.array(of), np.random.default_rng(0))
    steps = -(-len(told) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    warm = max(1, steps // 10)
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda k: min((k + 1) / warm, (steps - k) / max(1, steps - warm))
    )
    for k in range(steps):
        ones, others, wanted = zip(*told[BATCH * k : BATCH * (k + 1)], strict=True)
        u, v = (
            model(model.tokenize([said[i] for i in rows]))["sentence_embedding"]
            for rows in (ones, others)
        )
        loss = ((torch.cosine_similarity(u, v) - torch.tensor(wanted)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        rate.step()
    model.eval()
    head = LogisticRegression(max_iter=300).fit(model.encode(said), of)
    found: NDArray[np.int64] = head.predict(model.encode(catalogue.load(graph).texts))
    return found


def bertopic(graph: str, classes: Classes, texts: str) -> tuple[NDArray[np.int64], float]:
    """Return the most similar class text, and the share of nodes above the threshold. [n]"""
    cosines = np.asarray(
        unit(vectors(graph)) @ unit(minilm().encode(class_texts(classes, texts))).T
    )
    return cosines.argmax(axis=1), float((cosines.max(axis=1) >= THRESHOLD).mean())


def run(trial: Peer) -> Outcome:
    """Answer and measure, in per cent."""
    graph, classes, truth = inputs(trial.task())
    labels = Labels(_known(trial.task(), truth, len(classes)))
    more: dict[str, float] = {}
    if trial.method == "DGPN":
        model = unseen.ZeroShotNodeClassifier(model=unseen.DGPN(), among="unseen")
        fitted = model.fit(graph, classes, labels).prediction_
        told = labels.codes.copy()
        told[fitted.nodes] = fitted.label
    elif trial.method == "BERTopic":
        told, assigned = bertopic(trial.graph, classes, trial.texts)
        more = {"assigned": 100 * assigned}
    else:
        told = set_fit(trial.graph, classes, trial.texts)
    left = np.flatnonzero((truth >= 0) & ~labels.known)
    return {
        trial.method: {
            "accuracy": 100 * accuracy(truth[left], told[left]),
            "macro": 100 * macro_accuracy(truth[left], told[left]),
        }
        | more
    }


def table(folder: Path = HERE) -> str:
    """Return means of accuracy / macro accuracy as Markdown, over the graphs that were run."""
    peers, zoo = Ledger(folder, FILE), Ledger(folder, ZOO)
    rows = []
    for method, texts in (*((m, t) for m in ("SetFit", "BERTopic") for t in TEXTS), ("DGPN", "")):
        done = [
            trial
            for trial in asked()
            if trial.method == method and texts in ("", trial.texts) and trial in peers
        ]
        if not done:
            continue
        ours = [zoo[trial.task()] for trial in done]
        rows.append(
            (
                method,
                "paragraphs; half of the classes labelled" if not texts else f"{texts}s",
                str(len(done)),
                _mean(peers[trial][method] for trial in done),
                _mean(max((o["own encoder"], o["hops encoder"]), key=_first) for o in ours),
                _mean(each["defaults"] for each in ours),
            )
        )
    head = ("method", "class texts", "graphs", "its scores", "better floor", "defaults")
    return markdown(head, rows) if rows else NONE


def _first(scores: dict[str, float]) -> float:
    return scores["accuracy"]


def _mean(scores: Iterable[dict[str, float]]) -> str:
    kept = list(scores)
    return " / ".join(f"{fmean(each[kind] for each in kept):.1f}" for kind in ("accuracy", "macro"))


TABLES = {"text peers": table}


if __name__ == "__main__":
    ledger = Ledger(HERE, FILE)
    run_missing(asked(), ledger, run, lambda trial, found: f"{trial.key()}: {found}")
    print(table())

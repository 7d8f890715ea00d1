"""The main job for a graph on disk: encode the classes, choose, train, save, predict.

What `pipeline.classify` does, without the parts that need the whole graph in memory: where node
vectors and classes share a space, hops are compared with the class texts (`Prototype`, or DGPN's
maps where hiding seen classes says that they help); else DGPN's maps are learned from labels. A
folder::

    model/         the classifier, which `unseen predict` takes as well
    record.json    what was asked and chosen
    predictions/   Parquet, part by part (`predict.py`)
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.big.predict import predict_from_blocks
from unseen.big.reading import check_same, fingerprint, scattered, walk_fingerprint
from unseen.big.train import LAZINESS, train_from_blocks
from unseen.big.walk import open_walk
from unseen.classes import Classes, Labels
from unseen.classifier import Classifier
from unseen.csd.acquire import acquire
from unseen.csd.choose import MARGIN
from unseen.encode.base import get_encoder
from unseen.encode.space import DEFAULT
from unseen.errors import InputError
from unseen.files import read_json, replacing, write_json
from unseen.models.dgpn import DGPN
from unseen.models.dgpn_maps import COMPOSED, LOCAL, PSI
from unseen.pipeline import PAPER_LAZINESS, allowed_classes
from unseen.propagate.hops import Hops
from unseen.propagate.operators import hop_weights
from unseen.run import load, save
from unseen.validate import ENOUGH, Choice, Game, choose, games
from unseen.vectors import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.encode.base import Progress
    from unseen.propagate.disk_hops import DiskHops

RECORD, MODEL, PREDICTIONS = "record.json", "model", "predictions"
FEATURES = "features"  # node vectors that no encoder of texts made, as in the pipeline
SAMPLE = 10_000  # labelled nodes that choices are made by


def classify_walk(
    walk: Path | str,
    classes: Classes,
    out: Path | str,
    labels: NDArray[np.integer] | None = None,
    *,
    encoder: str = FEATURES,
    among: str = "all",
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Give every unlabelled node of a walk one of the classes; return the record.

    Args:
        walk: a folder of `walk_files`.
        classes: names and, better, descriptions of all classes.
        out: the folder; one that was left by a killed run is gone on with.
        labels: class position of each node, -1 where there is none. [n]
        encoder: what made the node vectors, such as "static" or "minilm". "features" says that no
            encoder did: the link to the classes is then learned from labels ("features:minilm"
            reads the class texts by another encoder than the default).
        among: "all" lets a node be of any class; "unseen" only of one without a labelled node.
        seed: of every random choice.
        progress: called with what is being done, how much is done, and of how much.
    """
    out = Path(out)
    hops, centre = open_walk(walk)
    known = Labels.none(0) if labels is None else Labels(np.asarray(labels))
    if labels is not None and len(labels) != hops.shape[1]:
        raise InputError(
            f"labels: expected {hops.shape[1]:,} (one for each node), found {len(labels):,}"
        )
    allowed = allowed_classes(among, known, classes)
    kind, _, reading = (
        encoder.partition(":") if encoder.partition(":")[0] == FEATURES else ("", "", encoder)
    )
    shared = kind != FEATURES
    if not shared and len(known.seen()) < 2:
        raise InputError(
            "labels: node vectors of no encoder are linked to the classes by labels of at least "
            f"two classes, found {len(known.seen())}; give labels, or name the encoder that made "
            "the vectors"
        )
    reader = get_encoder(reading or DEFAULT)
    if shared and reader.dimensions != hops.width:
        raise InputError(
            f"encoder: {encoder!r} makes vectors of {reader.dimensions} dimensions, but the nodes "
            f"of the walk have {hops.width}; name the encoder that made them, or {FEATURES!r} if "
            "none did"
        )
    asked = {
        "walk": walk_fingerprint(hops),
        "classes": [list(classes.names), list(classes.descriptions or ())],
        "labels": "none" if labels is None else fingerprint("labels", known.of),
        "encoder": [encoder, reader.identity],
        "among": among,
        "seed": seed,
    }
    if (out / RECORD).is_file():
        record = _same(out, asked)
        classifier = load(out / MODEL)
    else:
        _check_place(out)
        if progress is not None:
            progress("choose", 0, 1)
        csds = acquire(classes, reader)
        fitted = _fit_shared if shared else _fit_apart
        chosen, model, choices = fitted(hops, known.of, csds, allowed, seed, progress)
        classifier = Classifier(
            classes=classes,
            seen=tuple(classes.names[c] for c in known.seen()),
            encoder=encoder,
            identity=reader.identity,
            kind=chosen,
            node_centre=centre,
            class_centre=csds[chosen].mean(axis=0),
            hops=hops.shape[0] - 1,
            laziness=LAZINESS if shared else PAPER_LAZINESS,
            maps=None,
            model=model,
        )
        save(classifier, out / MODEL)
        told = [vars(choice) | {"candidates": dict(choice.candidates)} for choice in choices]
        record = {"format": 1, "asked": asked, "choices": told, "model": repr(model)}
        with replacing(out / RECORD) as new:
            write_json(new, record)
    assert isinstance(classifier.model, DGPN)
    predict_from_blocks(
        classifier.model,
        hops,
        out / PREDICTIONS,
        classes.names,
        among=allowed,
        labels=labels,
        laziness=classifier.laziness,
        progress=progress,
    )
    return record


Fitted = tuple[str, DGPN, list[Choice]]  # which class texts, the model, and why


def _fit_apart(
    hops: DiskHops,
    labels: NDArray[np.integer],
    csds: dict[str, NDArray[np.float32]],
    allowed: NDArray[np.bool_],
    seed: int,
    progress: Progress | None,
) -> Fitted:
    """Learn what links two spaces, as the pipeline does."""
    kind = next(iter(csds))
    model = DGPN(start="xavier", epochs=300, seed=seed)
    train_from_blocks(
        hops, labels, centred(csds[kind]), model, laziness=PAPER_LAZINESS, progress=progress
    )
    why = "features and class texts share no space to compare candidates in"
    return kind, model, [Choice("class texts", kind, "default", why, {})]


def _fit_shared(
    hops: DiskHops,
    labels: NDArray[np.integer],
    csds: dict[str, NDArray[np.float32]],
    allowed: NDArray[np.bool_],
    seed: int,
    progress: Progress | None,
) -> Fitted:
    """Compare hops with class texts; train maps if seen classes say that it helps."""
    default = next(iter(csds))
    near, of = _sample(hops, labels, seed)
    if len(np.unique(of)) < ENOUGH:
        why = f"fewer than {ENOUGH} seen classes to choose by"
        made = [
            Choice("class texts", default, "default", why, {}),
            Choice("maps", "identity", "default", why, {}),
        ]
        return default, identity(centred(csds[default])), made
    played = games(of, allowed, 3, seed)

    def play(game: Game, kind: str, trained: bool) -> NDArray[np.int64]:
        S = centred(csds[kind])
        model = _careful(seed).fit(near, game.labels, S) if trained else identity(S)
        return model.predict(near, game.among)

    players = {kind: partial(play, kind=kind, trained=False) for kind in csds}
    by_text = choose("class texts", players, of, played, default, margin=MARGIN)
    kind = by_text.chosen
    rival = {"trained": partial(play, kind=kind, trained=True)}
    untrained = {"identity": by_text.candidates[kind]}
    by_maps = choose("maps", rival, of, played, "identity", untrained)
    S = centred(csds[kind])
    model = identity(S)
    if by_maps.chosen == "trained":
        model = train_from_blocks(hops, labels, S, _careful(seed), progress=progress)
    return kind, model, [by_text, by_maps]


def _careful(seed: int) -> DGPN:
    """Return maps that start at the identity: a few careful steps, as in the pipeline."""
    return DGPN(start="identity", epochs=30, decay=1.0, seed=seed)


def identity(csds: NDArray[np.float32]) -> DGPN:
    """Return DGPN before any training, which is `Prototype`."""
    eye = np.eye(csds.shape[1], dtype=np.float32)
    state = {PSI: eye, LOCAL: eye, COMPOSED: eye, "csds_": csds}
    return DGPN(start="identity", epochs=0).restore(state)


def centred(csds: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return CSDs without what all of them share. [C, d_s]"""
    return unit(csds - csds.mean(axis=0))


def _sample(
    hops: DiskHops, labels: NDArray[np.integer], seed: int
) -> tuple[Hops, NDArray[np.int64]]:
    """Return some labelled nodes, drawn at random, and their classes."""
    nodes = np.flatnonzero(labels >= 0)
    if len(nodes) > SAMPLE:
        nodes = np.sort(np.random.default_rng(seed).choice(nodes, SAMPLE, replace=False))
    weights = hop_weights(hops.shape[0] - 1, LAZINESS)
    return Hops(tuple(scattered(hops)(nodes)), weights), np.asarray(labels[nodes], np.int64)


def _check_place(out: Path) -> None:
    """Refuse to write into what is not a folder of this kind; a killed run leaves the model."""
    strange = [out.name] if out.is_file() else []
    if out.is_dir():
        strange = [p.name for p in out.iterdir() if p.name[0] != "." and p.name != MODEL]
    if strange:
        raise InputError(
            f"{out}: exists and holds no predictions of a walk; give the name of a new folder"
        )


def _same(out: Path, asked: dict[str, Any]) -> dict[str, Any]:
    """Return the record of an earlier call that was asked the same."""
    record: dict[str, Any] = read_json(out / RECORD)
    before = record.get("asked", {})
    check_same(out, before, asked, "predictions that were made otherwise", "begin anew")
    return record

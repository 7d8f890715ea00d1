"""DGPN: its equations against plain NumPy, what may not matter, and classes nobody labelled."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from numpy.typing import NDArray

from unseen.core.arrays import masked, softmax, unit
from unseen.core.errors import InputError, MissingExtraError, SavedFileError
from unseen.core.operator import Operator
from unseen.core.task import Task
from unseen.models.dgpn import maps
from unseen.models.dgpn.maps import BIAS, COMPOSED, LOCAL, PSI, to_latent, to_semantic
from unseen.models.dgpn.model import DGPN
from unseen.models.prototype import Prototype
from unseen.propagate.hops import hop_weights, hops_of

NODES, WIDTH, CLASSES, SEMANTIC = 40, 6, 5, 4
XAVIER: dict[str, Any] = {"start": "xavier", "latent": 8, "epochs": 20, "hops": 2}
IDENTITY: dict[str, Any] = {"start": "identity", "epochs": 20, "hops": 2}


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    """Threads only get into each other's way on examples of this size."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def problem(semantic: int = SEMANTIC) -> Task:
    """Return a random graph, labels of classes 0 to 2 on half of the nodes, five classes."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(NODES, WIDTH))
    A = np.triu(rng.random((NODES, NODES)) < 0.1, 1)
    A[:, 0] = A[0, :] = False  # an isolated node: its hops are zero
    labels = np.where(np.arange(NODES) < NODES // 2, np.arange(NODES) % 3, -1)
    return Task(X, rng.normal(size=(CLASSES, semantic)), labels, Operator(A | A.T))


def log_softmax(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True)))


def losses_by_hand(
    model: DGPN, maps: dict[str, NDArray[np.float64]], task: Task
) -> tuple[float, float]:
    """Eq. 17 to 20 node by node and hop by hop, in double precision."""

    def sim(v: NDArray[np.float64]) -> NDArray[np.float64]:
        if model.similarity == "inner":
            return np.array([v @ s for s in S])
        cosines = [v @ s / (np.linalg.norm(v) * np.linalg.norm(s) or 1.0) for s in S]
        return np.array(cosines) / model.temperature

    def psi(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.maximum(x @ maps[PSI] + maps[PSI + BIAS], 0) if rectified else x @ maps[PSI]

    def phi(name: str, h: NDArray[np.float64]) -> NDArray[np.float64]:
        return h @ maps[name] + (maps[name + BIAS] if rectified else 0.0)

    rectified = PSI + BIAS in maps
    hops = hops_of(task, model.hops, model.laziness)
    classes = [0, 1, 2] if model.negatives == "seen" else list(range(CLASSES))
    S = task.S[classes].astype(np.float64)
    com, loc = [], []
    for i in np.flatnonzero(task.labels >= 0):
        own, z = classes.index(int(task.labels[i])), np.zeros(len(maps[LOCAL]))
        for block, weight in zip(hops.blocks, hops.weights, strict=True):
            x = block[i].astype(np.float64)
            h = psi(weight * x if model.weigh == "input" else x)
            loc.append(-log_softmax(sim(phi(LOCAL, h)))[own])
            z += h if model.weigh == "input" else weight * h
        com.append(-log_softmax(sim(phi(COMPOSED, z)))[own])
    return float(np.mean(com)), float(np.mean(loc))


@pytest.mark.parametrize("start", ["identity", "xavier"])
@pytest.mark.parametrize("negatives", ["seen", "all"])
@pytest.mark.parametrize("similarity", ["inner", "cosine"])
@pytest.mark.parametrize("weigh", ["latent", "input"])
def test_losses_are_those_of_the_equations(
    start: Any, negatives: Any, similarity: Any, weigh: Any
) -> None:
    task = problem(WIDTH)
    model = DGPN(
        start,
        local_weight=0.3,
        latent=8,
        epochs=1,
        dropout=0.0,
        negatives=negatives,
        similarity=similarity,
        weigh=weigh,
    )
    model.fit(task)
    maps = model._start(task, torch.Generator().manual_seed(0))
    exact = {name: value.double().numpy() for name, value in maps.items()}
    com, loc = losses_by_hand(model, exact, task)
    assert model.losses_[0] == pytest.approx(com + 0.3 * loc, rel=1e-5)  # Eq. 21
    model.local_weight = 0.0
    assert model.fit(task).losses_[0] == pytest.approx(com, rel=1e-5)


@pytest.mark.parametrize("weigh", ["latent", "input"])
def test_untrained_identity_is_prototype(weigh: Any) -> None:
    task = problem(WIDTH)
    ours = DGPN(epochs=0, weigh=weigh).fit(task)
    theirs = Prototype(hops=3, laziness=0.7).fit(task)
    np.testing.assert_allclose(ours.scores(task), theirs.scores(task), atol=1e-6)


def test_auto_takes_the_identity_only_in_one_space() -> None:
    task = problem(WIDTH)
    assert PSI + BIAS not in DGPN(epochs=0).fit(task).maps_
    assert PSI + BIAS in DGPN(epochs=0).fit(replace(task, shared=False)).maps_
    assert PSI + BIAS in DGPN(epochs=0).fit(problem()).maps_


def test_the_published_code_departs_from_the_print_in_four_settings() -> None:
    paper, official = (DGPN.variant(name).get_params() for name in ("paper", "official"))
    apart = {name for name in paper if paper[name] != official[name]}
    assert apart == {"local", "negatives", "weigh", "drop_prediction"}


@pytest.mark.parametrize("settings", [XAVIER, IDENTITY])
@pytest.mark.parametrize("similarity", ["inner", "cosine"])
def test_training_moves_every_map_and_lowers_the_loss(settings: Any, similarity: Any) -> None:
    task = problem(WIDTH)
    start = DGPN(**{**settings, "epochs": 0}).fit(task).maps_
    model = DGPN(**settings, similarity=similarity).fit(task)
    assert all(np.isfinite(value).all() for value in model.maps_.values())
    assert all((model.maps_[name] != start[name]).any() for name in start)
    assert model.losses_[-5:].mean() < model.losses_[0]


def test_decay_keeps_maps_at_their_start() -> None:
    task = problem(WIDTH)
    distance = [
        np.linalg.norm(DGPN(decay=d).fit(task).maps_[PSI] - np.eye(WIDTH)) for d in (0.0, 10.0)
    ]
    assert distance[1] < 0.5 * distance[0]


@pytest.mark.parametrize("settings", [XAVIER, IDENTITY])
def test_renumbering_nodes_renumbers_scores(settings: Any) -> None:
    task = problem(WIDTH)
    order = np.random.default_rng(0).permutation(NODES)
    settings = {**settings, "dropout": 0.0}
    assert task.operator is not None
    A = task.operator.weights[order][:, order]
    moved = Task(task.X[order], task.S, task.labels[order], Operator(A))
    plain = DGPN(**settings).fit(task).scores(task)
    np.testing.assert_allclose(DGPN(**settings).fit(moved).scores(moved), plain[order], atol=1e-4)


@pytest.mark.parametrize("settings", [XAVIER, IDENTITY])
@pytest.mark.parametrize("negatives", ["seen", "all"])
def test_renumbering_classes_renumbers_columns(settings: Any, negatives: Any) -> None:
    task = problem(WIDTH)
    order = np.array([3, 2, 0, 4, 1])  # new class c is old class order[c]
    renamed = np.where(task.labels >= 0, np.argsort(order)[task.labels], -1)
    moved = replace(task, S=task.S[order], labels=renamed)
    plain = DGPN(**settings, negatives=negatives).fit(task).scores(task)
    mixed = DGPN(**settings, negatives=negatives).fit(moved).scores(moved)
    np.testing.assert_allclose(mixed, plain[:, order], atol=1e-4)


def test_nodes_without_a_label_are_not_read() -> None:
    task = problem()
    model = DGPN(**XAVIER).fit(task)
    for block in hops_of(task, 2, 0.7).blocks:
        block[task.labels < 0] = np.nan
    again = DGPN(**XAVIER).fit(task)
    assert all((again.maps_[name] == value).all() for name, value in model.maps_.items())


def test_seen_negatives_do_not_read_other_csds() -> None:
    task = problem()
    model = DGPN(**XAVIER, negatives="seen").fit(task)
    task.S[3:] = np.nan
    again = DGPN(**XAVIER, negatives="seen").fit(task)
    assert all((again.maps_[name] == value).all() for name, value in model.maps_.items())


def test_same_seed_same_bits_and_the_global_generator_is_left_alone() -> None:
    task = problem()
    before = torch.get_rng_state()
    first, second, other = (DGPN(**XAVIER, seed=seed).fit(task).scores(task) for seed in (1, 1, 2))
    assert (first == second).all()
    assert (first != other).any()
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("settings", [XAVIER, IDENTITY])
def test_restored_model_gives_the_same_bits(settings: Any) -> None:
    task = problem(WIDTH)
    model = DGPN(**settings).fit(task)
    state = model.state()
    assert all(name.endswith("_") and value.dtype == np.float32 for name, value in state.items())
    restored = DGPN(**settings).restore({name: value.copy() for name, value in state.items()})
    assert (restored.scores(task) == model.scores(task)).all()
    with pytest.raises(SavedFileError, match="csds_, to_semantic_ not found"):
        DGPN().restore({PSI: state[PSI], LOCAL: state[LOCAL]})


def test_batches_do_not_change_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    task = problem()
    model = DGPN(**XAVIER).fit(task)
    scores = model.scores(task)
    monkeypatch.setattr(maps, "ROWS", 7)
    np.testing.assert_allclose(model.scores(task), scores, atol=1e-5)
    assert model.scores(Task(task.X[:0], task.S)).shape == (0, CLASSES)


@pytest.mark.parametrize("settings", [XAVIER, IDENTITY])
@pytest.mark.parametrize("sparse", [False, True])
def test_the_posterior_of_k_hops_is_that_of_the_scores_with_k_hops(
    settings: Any, sparse: bool
) -> None:
    task = replace(problem(WIDTH), allowed=np.arange(CLASSES) > 2)
    model = DGPN(**settings).fit(task)
    task = replace(task, X=sp.csr_array(task.X), memo={}) if sparse else task
    found = model.infer(task)
    assert len(found.by_hop) == 3
    free = task.labels < 0
    omega = hop_weights(2, 0.7)
    for k, p in enumerate(found.by_hop):  # Eq. 19 and 22 over the hops 0 to k
        blocks = hops_of(task, 2, 0.7).blocks[: k + 1]
        z = sum(w * to_latent(model.maps_, x) for w, x in zip(omega, blocks, strict=False))
        cosine = unit(to_semantic(model.maps_, COMPOSED, z)) @ unit(task.S).T
        expected = softmax(masked(cosine, task.allowed) / np.float32(model.temperature))
        np.testing.assert_allclose(p[free], expected[free], atol=1e-5)
    assert (found.posterior == found.by_hop[-1]).all()
    assert (found.by_hop[0] != found.posterior).any()


def test_without_a_graph_only_the_nodes_own_vector_counts() -> None:
    task = replace(problem(), operator=None, memo={})
    alone, hops = (DGPN(**{**XAVIER, "hops": k, "laziness": 1.0}).fit(task) for k in (0, 2))
    assert alone.scores(task).shape == hops.scores(task).shape
    sparse = replace(task, X=sp.csr_array(task.X), memo={})
    again = DGPN(**{**XAVIER, "hops": 2, "laziness": 1.0}).fit(sparse)
    np.testing.assert_allclose(again.scores(sparse), hops.scores(task), atol=1e-5)


def test_errors_say_what_to_do() -> None:
    task = problem()
    with pytest.raises(InputError, match=r"labels: DGPN learns .* found those of 0; label"):
        DGPN().fit(task.known(np.full(NODES, -1)))
    with pytest.raises(InputError, match="found those of 1; label nodes of more classes"):
        DGPN().fit(task.known(np.minimum(task.labels, 0)))
    with pytest.raises(InputError, match=r"two spaces here \(6 and 4 dimensions\)"):
        DGPN(start="identity").fit(task)
    wrong: Any = "glorot"
    with pytest.raises(InputError, match=r"start: expected one of .* found 'glorot'"):
        DGPN(start=wrong).fit(task)
    model = DGPN(**XAVIER).fit(task)
    with pytest.raises(InputError, match=r"csds: expected 4 dimensions .* found 3"):
        model.scores(Task(task.X, task.S[:, :3]))
    with pytest.raises(InputError, match=r"nodes: expected vectors of 6 dimensions .* found 5"):
        model.scores(Task(task.X[:, :5], task.S))


@pytest.mark.parametrize(("module", "extra"), [("torch", "torch"), ("numba", "fast")])
def test_a_missing_extra_is_named(module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(problem(), X=sp.csr_array(problem().X), memo={})
    fitted = DGPN(**XAVIER, similarity="inner").fit(task)
    scores = fitted.scores(task)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf'pip install "unseen\[{extra}\]"'):
        DGPN(**XAVIER, similarity="inner").fit(task)
    assert (fitted.scores(task) == scores).all()  # what was fitted needs neither


def test_importing_the_module_imports_no_extra() -> None:
    code = "import sys, unseen.models.dgpn; sys.exit(bool({'torch', 'numba'} & {*sys.modules}))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("similarity", ["inner", "cosine"])
def test_planted_classes_nobody_labelled_are_found(similarity: Any) -> None:
    """Node vectors are CSDs through an unknown linear map of another width, with noise."""
    rng = np.random.default_rng(0)
    classes, seen, nodes = 24, 18, 1200
    csds = rng.normal(size=(classes, 8)).astype(np.float32)
    csds /= np.linalg.norm(csds, axis=1, keepdims=True)
    truth = rng.integers(classes, size=nodes)
    X = csds[truth] @ rng.normal(size=(8, 30)) + 0.5 * rng.normal(size=(nodes, 30))
    A = (truth[:, None] == truth) & (rng.random((nodes, nodes)) < 0.03)
    unseen = np.arange(classes) >= seen
    task = Task(X, csds, np.where(unseen[truth], -1, truth), Operator(A | A.T), unseen)
    settings: dict[str, Any] = {"latent": 64, "epochs": 100, "hops": 2, "laziness": 0.5}
    model = DGPN(negatives="seen", similarity=similarity, **settings).fit(task)
    right = (model.predict(task) == truth)[unseen[truth]]
    assert right.mean() > 0.6  # chance is 1 in 6

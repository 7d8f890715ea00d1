"""Eq. 1 to 3 against values worked out by hand, their invariances, and Table 1 of the paper."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from threadpoolctl import threadpool_limits

from unseen.core.errors import InputError
from unseen.csd.quality import Measure, class_prototypes, informative, prepare, quality, relation

LOG2, LOG3 = math.log(2), math.log(3)
# Inner products: 0.1 = ln 2, 0.2 = ln 3, 1.2 = 0; so the odds are 2:3, 2:1 and 3:1.
HAND = np.array([[1.0, 1.0], [LOG2, 0.0], [0.0, LOG3]])
HAND_RELATION = np.array([[0, 2 / 5, 3 / 5], [2 / 3, 0, 1 / 3], [3 / 4, 1 / 4, 0]])
FLAT = np.zeros((3, 2))  # all inner products are 0: one half for each of the two others

MEASURES: tuple[Measure, ...] = ("kl", "cosine", "euclidean")

vectors = st.integers(2, 6).flatmap(
    lambda rows: arrays(np.float64, (rows, 4), elements=st.floats(-3, 3, width=32))
)


def test_relation_of_three_classes_by_hand() -> None:
    np.testing.assert_allclose(relation(HAND), HAND_RELATION, atol=1e-12)


def test_quality_of_three_classes_by_hand() -> None:
    kl = (
        2 / 5 * math.log(4 / 5)
        + 3 / 5 * math.log(6 / 5)
        + 2 / 3 * math.log(4 / 3)
        + 1 / 3 * math.log(2 / 3)
        + 3 / 4 * math.log(3 / 2)
        + 1 / 4 * math.log(1 / 2)
    )
    euclidean = (math.hypot(0.1, 0.1) + math.hypot(1 / 6, 1 / 6) + math.hypot(0.25, 0.25)) / 3
    cosine = (1 / math.sqrt(0.52) + 1 / math.sqrt(5 / 9) + 1 / math.sqrt(0.625)) / (3 * 2**0.5)
    assert quality(HAND, FLAT, "kl", unit=False) == pytest.approx(kl / 3)
    assert quality(HAND, FLAT, "kl", "sum", unit=False) == pytest.approx(kl)
    assert quality(HAND, FLAT, "euclidean", unit=False) == pytest.approx(euclidean)
    assert quality(HAND, FLAT, "cosine", unit=False) == pytest.approx(cosine)


def test_kl_takes_the_prototypes_as_its_reference() -> None:
    one_way, other_way = quality(HAND, FLAT, unit=False), quality(FLAT, HAND, unit=False)
    assert one_way != pytest.approx(other_way, rel=1e-3)


def test_unit_length_is_taken_before_the_relation() -> None:
    S = HAND[:, ::-1] + 0.5
    assert quality(HAND, 7 * S) == pytest.approx(quality(HAND / 5, S))
    assert quality(HAND, 7 * S, unit=False) != pytest.approx(quality(HAND, S, unit=False))


@settings(max_examples=50, deadline=None)
@given(vectors)
def test_rows_of_a_relation_are_distributions_over_the_others(V: np.ndarray) -> None:
    P = relation(V)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (np.diag(P) == 0).all()
    assert (P >= 0).all()


@settings(max_examples=50, deadline=None)
@given(vectors, st.integers(0, 99))
def test_renaming_classes_changes_nothing_and_itself_is_perfect(V: np.ndarray, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(V))
    S = V[:, ::-1] ** 2
    for measure in MEASURES:
        perfect = 1 if measure == "cosine" else 0
        assert quality(V, V, measure) == pytest.approx(perfect, abs=1e-9)
        renamed = quality(V[order], S[order], measure)
        assert renamed == pytest.approx(quality(V, S, measure), abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(vectors)
def test_kl_is_never_negative(V: np.ndarray) -> None:
    assert quality(V, np.cos(V)) >= -1e-12


def test_large_inner_products_stay_finite() -> None:
    V = 1e3 * np.array([[1.0, 0.0], [0.9, 0.1], [-1.0, 0.5]])
    np.testing.assert_allclose(relation(V).sum(axis=1), 1)
    assert np.isfinite(quality(HAND, V, unit=False))


def test_two_classes_say_nothing() -> None:
    assert not informative(2)
    assert informative(3)
    for S in (np.eye(2), np.array([[1.0, 0.0], [5.0, 5.0]])):
        values = [quality(HAND[:2], S, measure) for measure in MEASURES]
        assert values == pytest.approx([0, 1, 0])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_prototypes_are_class_means_and_skip_the_unlabelled(form: type) -> None:
    X = form(np.array([[0.0, 2], [2, 0], [9, 9], [4, 6]]))
    np.testing.assert_array_equal(class_prototypes(X, [0, 0, -1, 1], 2), [[1, 1], [4, 6]])
    np.testing.assert_array_equal(class_prototypes(X, [0, 0, 3, 1], [3, 1]), [[9, 9], [4, 6]])


def test_a_class_without_nodes_is_named() -> None:
    with pytest.raises(InputError, match="no node is labelled with class '2'"):
        class_prototypes(np.eye(3), [0, 1, 1], 3)


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match=r"expected 3 rows .* found 2"):
        quality(HAND, HAND[:2])
    with pytest.raises(InputError, match="at least two"):
        relation([[1.0, 2.0]])
    with pytest.raises(InputError, match="finite"):
        relation([[1.0, np.nan], [0.0, 1.0]])
    with pytest.raises(InputError, match="one for each node"):
        class_prototypes(np.eye(3), [0, 1], 2)


def test_prepare_keeps_inner_products_up_to_the_rank() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((30, 3)) @ rng.random((3, 20))  # rank 3
    Z = prepare(X, dimensions=3, unit=False)
    assert Z.shape == (30, 3)
    np.testing.assert_allclose(Z @ Z.T, X @ X.T, atol=1e-9)
    np.testing.assert_allclose(prepare(sp.csr_array(X), dimensions=3, unit=False), Z)
    np.testing.assert_allclose(np.linalg.norm(prepare(X), axis=1), 1)
    np.testing.assert_array_equal(prepare(np.zeros((2, 2))), np.zeros((2, 2)))


def _published(folder: Path, name: str) -> tuple[sp.csr_array, np.ndarray, dict[str, np.ndarray]]:
    X = sp.csr_array(sp.load_npz(folder / name / "features.npz"), dtype=np.float64)
    y = np.load(folder / name / "labels.npy")
    with np.load(folder / "csds" / "csds.npz") as file:
        return X, y, {kind: file[f"{name}_{kind}"] for kind in ("label", "text")}


@pytest.mark.parametrize("name", ["cora", "citeseer", "c-m10m"])
@pytest.mark.parametrize("by_appendix", [True, False])
def test_table_1_text_is_better_than_label(paper_data: Path, name: str, by_appendix: bool) -> None:
    X, y, csds = _published(paper_data, name)
    with threadpool_limits(1):  # many small products: threads only get in each other's way
        centres = class_prototypes(prepare(X) if by_appendix else X, y, len(csds["text"]))
    for measure in MEASURES:
        gain = quality(centres, csds["text"], measure) - quality(centres, csds["label"], measure)
        assert gain > 0 if measure == "cosine" else gain < 0


@pytest.mark.parametrize(
    ("name", "kind", "kl", "cosine", "euclidean"),
    [
        ("cora", "label", 0.0154, 0.9978, 0.1787),
        ("cora", "text", 0.0109, 0.9985, 0.1552),
        ("citeseer", "label", 0.0120, 0.9980, 0.1620),
    ],
)
def test_table_1_printed_figures(
    paper_data: Path, name: str, kind: str, kl: float, cosine: float, euclidean: float
) -> None:
    X, y, csds = _published(paper_data, name)
    centres = class_prototypes(X, y, len(csds[kind]))
    assert quality(centres, csds[kind], "kl", "sum") == pytest.approx(kl, abs=6e-5)
    assert quality(centres, csds[kind], "euclidean", "sum") == pytest.approx(euclidean, abs=6e-5)
    assert quality(centres, csds[kind], "cosine") == pytest.approx(cosine, abs=1e-4)

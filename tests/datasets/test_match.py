"""Nodes found by content: whatever the numbers, the same; whatever else differs, another."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.datasets.match import content_hashes, partners, twins

LABELS = np.zeros(9, dtype=np.int64)
PATH = np.array([[i, i + 1] for i in range(8)])


def hashes(words: list[int], edges: np.ndarray = PATH, labels: np.ndarray = LABELS) -> list[bytes]:
    """Of nodes with a word each."""
    return content_hashes(sp.csr_array(np.eye(max(words) + 1)[words]), labels, edges)


def test_what_lies_three_steps_away_counts_and_no_more() -> None:
    """A path of nine alike nodes; one of its ends is given another word."""
    plain, marked = hashes([0] * 9), hashes([0] * 8 + [1])
    assert [a == b for a, b in zip(plain[:8], marked[:8], strict=True)] == [True] * 5 + [False] * 3
    # mirror images are alike, and so are the three nodes that see no end within three steps
    assert [plain[i] == plain[8 - i] for i in range(9)] == [True] * 9
    assert len(set(plain)) == 4
    assert twins(plain) == 9
    assert twins(marked) == 2  # nodes 3 and 4 alone see neither end


def test_labels_features_and_ties_all_count() -> None:
    plain = hashes([0] * 9)
    other = np.where(np.arange(9) == 4, 1, 0)
    assert set(hashes([0] * 9, labels=other)).isdisjoint({plain[4]})
    assert hashes([0] * 9, edges=PATH[:-1])[8] != plain[8]


def test_a_tie_counts_both_ways_and_once_and_a_loop_not_at_all() -> None:
    again = np.concatenate([PATH, PATH[2:4, ::-1], PATH[:1], [[5, 5]]])
    assert hashes([0] * 9, edges=again) == hashes([0] * 9)


def test_a_stored_zero_is_no_feature() -> None:
    zeros = sp.csr_array((np.array([1.0, 0.0]), ([0, 1], [0, 1])), shape=(2, 2))
    none = np.zeros((0, 2), dtype=np.int64)
    given = np.array([0, 0])
    assert content_hashes(zeros, given, none) == content_hashes(
        sp.csr_array([[1.0, 0.0], [0.0, 0.0]]), given, none
    )
    assert zeros.nnz == 2  # what was given is left alone


def test_partners_undo_any_numbering_and_twins_come_in_order() -> None:
    words = [0, 1, 2, 2, 3, 2, 4, 5, 6]
    star = np.array([[1, 2], [1, 3], [1, 5], [0, 4], [4, 6], [7, 8]])  # 2, 3, 5 are twins
    order = np.random.default_rng(0).permutation(9)  # their node i is our node order[i]
    theirs = hashes([words[i] for i in order], edges=np.argsort(order)[star])
    ours = hashes(words, edges=star)
    found = partners(theirs, ours)
    alike = np.isin(order, [2, 3, 5])
    assert found[~alike].tolist() == order[~alike].tolist()
    assert found[alike].tolist() == [2, 3, 5]
    assert twins(ours) == 3


def test_a_node_without_a_partner_is_an_error() -> None:
    ours = hashes([0] * 9)
    with pytest.raises(InputError, match=r"edges: 4 of 9 in the one, 4 of 9 in the other; fetch"):
        partners(hashes([0] * 8 + [1]), ours)
    with pytest.raises(InputError, match="0 of 8 in the one, 1 of 9 in the other"):
        partners(ours[:8], ours)

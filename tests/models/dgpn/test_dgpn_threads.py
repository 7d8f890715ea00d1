"""Sharing an epoch out: how many threads there are, what each takes, and who waits for whom."""

from __future__ import annotations

from functools import partial
from threading import get_ident

import pytest
import torch

from unseen.models.dgpn.threads import SMALL, TWELVE, how_many, pool, stretches


def test_threads_are_for_large_work_and_as_many_as_pytorch_may_use() -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        assert how_many(SMALL, 128) == 1
        assert how_many(SMALL + 1, 128) == 3
        assert how_many(SMALL + 1, 64) == 2
        assert how_many(SMALL + 1, 12) == 1
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("length", [1, 12, 100, 128, 500])
@pytest.mark.parametrize("parts", [1, 2, 3, 5])
def test_stretches_cover_all_rows_and_begin_where_blas_does(length: int, parts: int) -> None:
    cuts = stretches(length, parts)
    assert len(cuts) == parts
    assert [row for cut in cuts for row in range(length)[cut]] == list(range(length))
    assert all(cut.start % TWELVE == 0 for cut in cuts)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_all_works_are_done_in_order_and_the_first_by_whoever_asks(threads: int) -> None:
    with pool(threads) as every:
        assert every([partial(pow, 2, i) for i in range(5)]) == [1, 2, 4, 8, 16]
        who = every([get_ident] * 3)
    assert who[0] == get_ident()
    assert (set(who[1:]) == {get_ident()}) == (threads == 1)


def test_what_a_work_raises_is_raised() -> None:
    with pool(2) as every, pytest.raises(ZeroDivisionError):
        every([int, lambda: 1 // 0])

"""Threads only get into each other's way on examples of this size."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def _one_thread_of_algebra() -> Iterator[None]:
    with threadpool_limits(1):
        yield

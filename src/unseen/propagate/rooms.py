"""`rooms`: arrays that a thread fills again and again.

Fresh memory from the system comes in pages that it has to clear first, which takes longer than most
of what is done with them here. A room is asked for by name, and is gone when its thread ends.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Rooms(threading.local):
    """One room for each name and thread."""

    def __init__(self) -> None:
        self._kept: dict[str, NDArray[np.uint8]] = {}

    def get(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """Return an array of any content, which is good until this name is asked for again."""
        kind = np.dtype(dtype)
        size = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
        room = self._kept.get(name)
        if room is None or len(room) < size:
            self._kept.pop(name, None)
            room = self._kept[name] = np.empty(size, dtype=np.uint8)
        array: NDArray[Any] = room[:size].view(kind).reshape(shape)
        return array


rooms = Rooms()

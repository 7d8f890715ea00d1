"""Texts of nodes on disk, in files of equally many, wherever the blocks of an engine begin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.engines.store import by_block
from unseen.io.files import scan_arrow

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Texts:
    """Texts of nodes, block by block; files of `step` texts each, wherever blocks begin."""

    def __init__(self, folder: Path, spans: Any, step: int) -> None:
        self.folder, self.spans, n = folder, spans, int(spans[-1].stop)
        self.files = [slice(at, min(at + step, n)) for at in range(0, n, step)]
        self.step = step

    def __len__(self) -> int:
        return int(self.spans[-1].stop)

    def block(self, i: int) -> list[str]:
        """Return the texts of a block."""
        begin, end = self.spans[i].start, self.spans[i].stop
        found: list[str] = []
        for j in range(begin // self.step, -(-end // self.step)):
            at = self.files[j].start
            found += self._file(j)[max(begin - at, 0) : end - at]
        return found

    def take(self, nodes: NDArray[np.int64]) -> list[str]:
        """Return some texts."""
        found = by_block(lambda j: np.array(self._file(j), object), nodes, self.files)
        return list(found.tolist())

    def _file(self, j: int) -> list[str]:
        return scan_arrow(self.folder / f"{j:05d}.arrow").collect()["text"].to_list()

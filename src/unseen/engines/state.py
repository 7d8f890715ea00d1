"""What was learned, in a folder that is whole or not there: arrays as safetensors, values as JSON.

Values may be nested; arrays stand at the top.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from unseen.io.atomic import check_folder, in_place, read_json, write_json
from unseen.io.files import write_bytes

ARRAYS, VALUES = "arrays.safetensors", "values.json"


def write_state(folder: Path, state: dict[str, Any]) -> None:
    """Write arrays and plain values by name."""
    from safetensors.numpy import save

    def build(new: Path) -> None:
        arrays = {k: np.ascontiguousarray(v) for k, v in state.items() if isinstance(v, np.ndarray)}
        write_bytes(new / ARRAYS, save(arrays))  # safetensors would not tell of a full disk
        write_json(new / VALUES, {k: v for k, v in state.items() if k not in arrays})

    in_place(folder, build)


def read_state(folder: Path) -> dict[str, Any]:
    """Read what `write_state` has written; a file that changed since is refused."""
    from safetensors.numpy import load_file

    check_folder(folder)
    arrays: dict[str, Any] = load_file(folder / ARRAYS)
    values: dict[str, Any] = read_json(folder / VALUES)
    return arrays | values

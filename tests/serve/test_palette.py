"""The colours of classes: told apart by every kind of colour vision, seen on both grounds.

Colour vision deficiencies are simulated by the matrices of Machado, Oliveira and Fernandes (2009),
distances taken in Oklab (Ottosson, 2020).
"""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

STYLES = Path(__file__).parents[2] / "web" / "src"
KINDS = {
    "full": np.eye(3),
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
TO_CONES = [[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.6300]]
TO_LAB = [[0.2105, 0.7936, -0.0041], [1.9780, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]]
Array = np.ndarray[Any, np.dtype[np.float64]]


def colours(theme: str) -> list[str]:
    found = re.search(rf"{theme.upper()} = \[(.*?)\]", _read("palette.ts"), re.S)
    assert found is not None
    return re.findall(r"#[0-9a-f]{6}", found[1])


def ground(theme: str) -> str:
    """The colour behind the map."""
    light, dark = re.findall(r"--ground: (#[0-9a-f]{6})", _read("styles/base.css"))
    return str(dark if theme == "dark" else light)


def _read(name: str) -> str:
    return (STYLES / name).read_text("utf-8")


def linear(colour: str) -> Array:
    value = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def oklab(light: Array) -> Array:
    return np.array(TO_LAB) @ np.cbrt(np.array(TO_CONES) @ light)


def nearest(chosen: list[str], kind: str) -> float:
    """Return the smallest distance between two colours, as one kind of vision has it."""
    seen = [oklab(np.clip(np.array(KINDS[kind]) @ linear(c), 0, 1)) for c in chosen]
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2))


def contrast(one: str, other: str) -> float:
    a, b = (float(np.array([0.2126, 0.7152, 0.0722]) @ linear(c)) + 0.05 for c in (one, other))
    return max(a, b) / min(a, b)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", list(KINDS))
def test_colours_differ_for_every_kind_of_vision(theme: str, kind: str) -> None:
    okabe_ito = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#f0e442"]
    chosen = colours(theme)
    assert len(set(chosen)) == 24
    assert nearest(chosen[:8], kind) >= 0.75 * nearest(okabe_ito, kind)
    assert nearest(chosen[:20], kind) >= 0.04  # two just noticeable differences of Oklab


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_dots_stand_out_from_their_ground(theme: str) -> None:
    assert min(contrast(each, ground(theme)) for each in colours(theme)) >= 2.9

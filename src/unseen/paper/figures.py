"""The pictures of the paper's experiments: bars, heat maps and curves, as PNG and SVG.

Texts stay texts in an SVG, and no date goes into it: the same numbers give the same file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unseen.core.errors import require
from unseen.paper.plan import Summary
from unseen.paper.published import LABELS
from unseen.report.palette import COLOURS

if TYPE_CHECKING:
    from unseen.paper.accuracy import Found

DPI = 150
INK, PALE, LINE = "#000000", "#FFFFFF", "#CCCCCC"
LINES = ("-", "--", ":", "-.")
DEEP = "Blues"  # from pale to deep in lightness alone, so that every kind of colour vision reads it
DARK = 0.715  # of the way to the deepest colour, from where text on it is pale
TINT = 0.15  # of the range of a panel lies below its worst value
FLOOR = "majority class (floor)"
LEGEND = {"loc": "outside lower center", "ncols": 5, "frameon": False, "fontsize": 8.5}
STAR = "* attributes: words of the titles, not the paper's 128 numbers"
STYLE = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.edgecolor": INK,
    "svg.fonttype": "none",
    "svg.hashsalt": "unseen",  # the names of its parts come out the same on every run
}


@dataclass(frozen=True)
class Curve:
    """One panel: what was measured, and what was expected of it but for a constant.

    Args:
        title: of the panel.
        x_label: what grew.
        x: its sizes. [p]
        seconds: what was measured. [p]
        expected: costs by the name of the formula that says so. [p] each
    """

    title: str
    x_label: str
    x: Sequence[float]
    seconds: Sequence[float]
    expected: Mapping[str, Sequence[float]]


def bars(
    found: Mapping[str, Sequence[Found]], data: Sequence[str], stem: Path, title: str
) -> list[Path]:
    """Draw a group for each data set and a bar for each network, with deviation and floor."""
    floors = [_floor(row[at] for row in found.values()) for at in range(len(data))]
    width = 0.8 / len(found)
    with _figure(7.0, 3.6) as figure:
        axes = figure.subplots()
        for number, (name, row) in enumerate(found.items()):
            places = np.arange(len(data)) + (number - (len(found) - 1) / 2) * width
            style = {"color": COLOURS[number], "edgecolor": INK, "linewidth": 0.5, "label": name}
            axes.bar(places, [_accuracy(each) for each in row], 0.92 * width, **style)
            for x, each in zip(places, row, strict=True):
                if isinstance(each, Summary):
                    whisker = {"color": INK, "capsize": 3, "linewidth": 1}
                    axes.errorbar(x, each.accuracy, each.deviation, **whisker)
                    _value(axes, x, each.accuracy + each.deviation, f"{each.accuracy:.1f}")
        known = [(at, floor) for at, floor in enumerate(floors) if floor is not None]
        if known:
            at, height = np.array(known).T
            dashes = {"color": INK, "linestyle": (0, (4, 2)), "linewidth": 1.2}
            axes.hlines(height, at - 0.45, at + 0.45, label=FLOOR, **dashes)
        axes.set_xticks(range(len(data)), [LABELS.get(name, name) for name in data])
        axes.set(xlim=(-0.6, len(data) - 0.4), ylim=(0, None), ylabel="accuracy (%)", title=title)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_xlabel(_star(data), fontsize=7.5, loc="right")
        handles, names = axes.get_legend_handles_labels()
        order = sorted(range(len(names)), key=lambda at: names[at] == FLOOR)  # it comes last
        figure.legend([handles[at] for at in order], [names[at] for at in order], **LEGEND)
        return _save(figure, stem)


def heat_maps(
    found: Mapping[str, Sequence[Sequence[Found]]],
    axes_of: Mapping[str, Sequence[Any]],
    stem: Path,
    title: str,
) -> list[Path]:
    """Draw a panel for each data set: accuracy at each K and beta; the deeper, the better."""
    hops, laziness = axes_of["hops"], axes_of["laziness"]
    with _figure(3.0 * len(found), 4.0, "compressed") as figure:
        panels = figure.subplots(1, len(found), squeeze=False)[0]
        for axes, (data, grid) in zip(panels, found.items(), strict=True):
            values = np.array([[_accuracy(each) for each in row] for row in grid])  # [K, beta]
            known = values[~np.isnan(values)]
            low, high = (known.min(), known.max()) if len(known) else (0.0, 0.0)
            low -= TINT * (high - low or 1)  # the worst is not as white as what was not run
            axes.imshow(values, cmap=DEEP, origin="lower", vmin=low, vmax=high)
            for (row, column), value in np.ndenumerate(values):
                colour = PALE if (value - low) / (high - low) > DARK else INK
                said = "" if isnan(value) else f"{value:.1f}"
                axes.text(column, row, said, ha="center", va="center", color=colour)
            floor = _floor(each for row in grid for each in row)
            said = "" if floor is None else f"\nfloor {floor:.1f}"
            axes.set_title(LABELS.get(data, data) + said)
            axes.set_xticks(range(len(laziness)), [str(beta) for beta in laziness])
            axes.set_yticks(range(len(hops)), [str(k) for k in hops])
            axes.set_xlabel("laziness β")
            # lines around all squares, also around those that are empty
            axes.set_xticks(np.arange(len(laziness) + 1) - 0.5, minor=True)
            axes.set_yticks(np.arange(len(hops) + 1) - 0.5, minor=True)
            axes.grid(which="minor", color=LINE, linewidth=0.8)
            axes.tick_params(which="minor", length=0)
        panels[0].set_ylabel("hops K")
        figure.suptitle(title)
        figure.supxlabel(_star(found), fontsize=7.5, x=0.99, ha="right")
        return _save(figure, stem)


def curves(panels: Sequence[Sequence[Curve]], stem: Path, title: str) -> list[Path]:
    """Draw a grid of panels: seconds against a size, both logarithmic, with the expected lines.

    Each expected cost is multiplied by the constant that fits the logarithms best.
    """
    across = max(len(row) for row in panels)
    with _figure(3.2 * across, 2.6 * len(panels) + 0.7) as figure:
        grid = figure.subplots(len(panels), across, squeeze=False, sharey="row")
        for line, row in zip(grid, panels, strict=True):
            line[0].set_ylabel("seconds")
            for axes, curve in zip(line, row, strict=True):
                for number, (name, expected) in enumerate(curve.expected.items()):
                    constant = np.exp(np.mean(np.log(curve.seconds) - np.log(expected)))
                    style = {"color": COLOURS[number], "linestyle": LINES[number], "label": name}
                    axes.plot(curve.x, constant * np.asarray(expected), **style)
                axes.plot(curve.x, curve.seconds, "o", color=INK, markersize=4.5, label="measured")
                axes.set(xscale="log", yscale="log", title=curve.title, xlabel=curve.x_label)
                axes.set_xticks(curve.x, [_short(size) for size in curve.x])
                axes.set_xticks([], minor=True)
                axes.grid(color=LINE, linewidth=0.6)
        figure.suptitle(title)
        handles, names = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, names, **LEGEND)
        return _save(figure, stem)


def _accuracy(found: Found) -> float:
    return found.accuracy if isinstance(found, Summary) else nan


def _floor(found: Iterable[Found]) -> float | None:
    """Return the floor of a data set, which all its cells share."""
    return next((each.floor for each in found if isinstance(each, Summary)), None)


def _short(size: float) -> str:
    """Return a number in few letters.

    >>> [_short(size) for size in (6, 4096, 20_000, 2_400_000)]
    ['6', '4096', '20k', '2.4M']
    """
    if size >= 10_000 and size % 1000 == 0:
        return f"{size / 1e6:g}M" if size >= 1e6 else f"{size / 1e3:g}k"
    return f"{size:.0f}"


def _value(axes: Any, x: float, y: float, text: str) -> None:
    """Write a number above a whisker, and keep what lies behind from crossing it."""
    white = {"facecolor": PALE, "edgecolor": "none", "pad": 0.8}
    place = {"textcoords": "offset points", "ha": "center", "va": "bottom", "zorder": 5}
    axes.annotate(text, (x, y), (0, 3), fontsize=8, bbox=white, **place)


def _star(data: Iterable[str]) -> str:
    """Return what the star behind the name of a data set means, if there is one."""
    return STAR if any(LABELS.get(name, name).endswith("*") for name in data) else ""


@contextmanager
def _figure(
    width: float, height: float, layout: Literal["constrained", "compressed"] = "constrained"
) -> Iterator[Any]:
    """Give a figure that nobody else sees, in our style until it is saved."""
    require("matplotlib", "paper", "drawing figures")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(STYLE):
        yield Figure(figsize=(width, height), layout=layout)


def _save(figure: Any, stem: Path) -> list[Path]:
    """Write STEM.png and STEM.svg."""
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in ("png", "svg")]
    figure.savefig(paths[0], dpi=DPI)
    figure.savefig(paths[1], metadata={"Date": None})
    return paths

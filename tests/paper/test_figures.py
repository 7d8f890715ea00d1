"""The pictures: what is drawn where, as PNG and SVG, and what happens when cells are missing."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib import colormaps, colors, rcParams
from matplotlib.image import imread

from unseen.core.errors import MissingExtraError
from unseen.paper import ablation, figures, sensitivity
from unseen.paper.accuracy import Found
from unseen.paper.figures import Curve, bars, curves, heat_maps
from unseen.paper.ledger import Ledger
from unseen.paper.plan import Plan, Summary
from unseen.report.palette import COLOURS

DATA = ("cora", "citeseer", "c-m10m")
FLOORS = {"cora": 28.5, "citeseer": 34.2, "c-m10m": 35.8}
AXES = {"hops": (1, 2, 3), "laziness": (0.1, 0.5)}


def summary(accuracy: float, data: str = "cora", deviation: float = 0.5) -> Summary:
    return Summary(accuracy, deviation, accuracy - 2, FLOORS[data], 10, 0, ())


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that were saved."""
    kept: list[Any] = []
    save = figures._save

    def keep(figure: Any, stem: Path) -> list[Path]:
        kept.append(figure)
        return save(figure, stem)

    monkeypatch.setattr(figures, "_save", keep)
    return kept


def check_files(paths: list[Path], stem: Path) -> str:
    """Look whether both files are sound; return the texts of the SVG."""
    png, svg = paths
    assert (png, svg) == (Path(f"{stem}.png"), Path(f"{stem}.svg"))
    content = png.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height = struct.unpack(">II", content[16:24])
    picture = imread(png)
    assert picture.shape[:2] == (height, width)
    assert picture[..., :3].min() < 0.2 < 0.8 < picture[..., :3].max()
    root = ElementTree.parse(svg).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    inches = float(root.attrib["width"].removesuffix("pt")) / 72
    assert width == pytest.approx(150 * inches, abs=1)
    return "\n".join("".join(each.itertext()) for each in root.iter() if each.tag.endswith("}text"))


ABLATION: dict[str, list[Found]] = {
    "ProNet": [summary(27.1, "cora", 1.2), summary(30.0, "citeseer"), summary(36.0, "c-m10m")],
    "ProNet+GCN": [summary(31.0), None, summary(39.2, "c-m10m")],
    "ProNet+GCN+LL": [summary(34.1), "no data", summary(41.3, "c-m10m")],
}


def test_bars(drawn: list[Any], tmp_path: Path) -> None:
    paths = bars(ABLATION, DATA, tmp_path / "a.b", "Ablation, here")  # a dot is no extension
    texts = check_files(paths, tmp_path / "a.b").split("\n")
    for text in ("Ablation, here", "accuracy (%)", "Cora", "Citeseer", "C-M10M*", *ABLATION):
        assert text in texts
    assert {"27.1", "30.0", "36.0", "31.0", "39.2", "34.1", "41.3"} <= set(texts)
    assert texts.count("majority class (floor)") == 1
    assert texts[-1] == "majority class (floor)"
    (axes,) = drawn[0].axes
    groups = [c for c in axes.containers if hasattr(c, "patches")]
    heights = [[patch.get_height() for patch in group] for group in groups]
    assert heights[0] == [27.1, 30.0, 36.0]
    assert (heights[1][0], heights[1][2]) == (31.0, 39.2)
    assert heights[1][1] != heights[1][1]  # not a number: no bar
    assert len({colors.to_hex(group.patches[0].get_facecolor()) for group in groups}) == 3
    for at in range(3):  # the bars of a data set stand around its name, in order
        middles = [g.patches[at].get_x() + g.patches[at].get_width() / 2 for g in groups]
        assert middles == pytest.approx([at - 0.8 / 3, at, at + 0.8 / 3])
    lines = [c.get_segments() for c in axes.collections if c.get_label() == figures.FLOOR]
    for at, (line, data) in enumerate(zip(lines[0], DATA, strict=True)):
        expected = [at - 0.45, FLOORS[data], at + 0.45, FLOORS[data]]
        assert line.ravel().tolist() == pytest.approx(expected)


def test_a_whisker_is_as_long_as_the_deviation(drawn: list[Any], tmp_path: Path) -> None:
    bars({"one": [summary(30.0, deviation=2.5)]}, ["cora"], tmp_path / "a", "t")
    whiskers = [c for c in drawn[0].axes[0].containers if not hasattr(c, "patches")]
    (stem,) = whiskers[0].lines[2][0].get_segments()
    assert [y for _, y in stem] == [27.5, 32.5]


def test_bars_of_a_data_set_without_any_result(drawn: list[Any], tmp_path: Path) -> None:
    found: dict[str, list[Found]] = {
        "one": [None, summary(30.0, "citeseer")],
        "two": ["not here", None],
    }
    texts = check_files(bars(found, DATA[:2], tmp_path / "a", "t"), tmp_path / "a")
    assert "*" not in texts  # and no note about a data set that is not drawn
    (floors,) = (c for c in drawn[0].axes[0].collections if c.get_label() == figures.FLOOR)
    assert [segment[0][1] for segment in floors.get_segments()] == [34.2]


def test_heat_maps(drawn: list[Any], tmp_path: Path) -> None:
    grid: list[list[Found]] = [[summary(30.0 + 2 * k + b) for b in range(2)] for k in range(3)]
    other: list[list[Found]] = [
        [None, summary(40.0, "c-m10m")],
        ["no data", None],
        [None, summary(20.0, "c-m10m")],
    ]
    found = {"cora": grid, "c-m10m": other}
    texts = check_files(heat_maps(found, AXES, tmp_path / "h", "K and beta"), tmp_path / "h")
    lines = texts.split("\n")
    for text in ("K and beta", "hops K", "laziness β", "Cora", "floor 28.5", "floor 35.8"):
        assert text in lines
    assert lines.count("40.0") == 1
    assert "nan" not in texts
    assert figures.STAR in lines
    first, second = drawn[0].axes
    for axes in (first, second):
        assert [label.get_text() for label in axes.get_yticklabels()] == ["1", "2", "3"]
        assert [label.get_text() for label in axes.get_xticklabels()] == ["0.1", "0.5"]
    written = {label.get_position(): label.get_text() for label in first.texts}
    assert written == {(b, k): f"{30.0 + 2 * k + b:.1f}" for b in range(2) for k in range(3)}
    assert sum(label.get_text() == "" for label in second.texts) == 4
    (image,) = first.images  # K grows upwards
    assert (image.origin, first.get_ylim()) == ("lower", (-0.5, 2.5))
    assert image.get_array().tolist() == [[30.0, 31.0], [32.0, 33.0], [34.0, 35.0]]


def luminance(colour: Any) -> float:
    """As the web's rules on contrast have it."""
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return float(0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2])


def test_deeper_is_better_and_every_number_can_be_read(drawn: list[Any], tmp_path: Path) -> None:
    grid = [[summary(30 + k / 10) for k in range(40)]]
    walk = {"hops": (1,), "laziness": tuple(range(40))}
    heat_maps({"cora": grid}, walk, tmp_path / "h", "t")
    (axes,) = drawn[0].axes
    (image,) = axes.images
    fills = [luminance(image.to_rgba(each.accuracy)) for each in grid[0]]
    assert fills == sorted(fills, reverse=True)
    assert fills[0] < luminance(colormaps[figures.DEEP](0.0))  # not as white as an empty square
    for fill, label in zip(fills, axes.texts, strict=True):
        light, dark = sorted((fill, luminance(colors.to_rgb(label.get_color()))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) > 4.4


@pytest.mark.parametrize("grid", [[[None, None]] * 3, [[summary(30.0)] * 2] * 3])
def test_heat_maps_of_nothing_and_of_one_value(grid: Any, tmp_path: Path) -> None:
    texts = check_files(heat_maps({"cora": grid}, AXES, tmp_path / "h", "t"), tmp_path / "h")
    assert texts.count("30.0") == 6 * (grid[0][0] is not None)
    assert ("floor" in texts) == (grid[0][0] is not None)


def panel(seconds: list[float]) -> Curve:
    expected = {"linear": [10.0, 20.0, 40.0], "constant": [7.0, 7.0, 7.0]}
    return Curve("decomposition\nexponent 1.0", "edges |E|", [9000, 90_000, 2e6], seconds, expected)


def test_curves(drawn: list[Any], tmp_path: Path) -> None:
    rows = [[panel([1.0, 2.0, 4.0]), panel([1.0, 2.0, 1.0])]] * 2
    texts = check_files(curves(rows, tmp_path / "c", "Seconds"), tmp_path / "c").split("\n")
    for text in ("Seconds", "seconds", "edges |E|", "exponent 1.0", "9000", "90k", "2M"):
        assert text in texts
    assert [texts.count(name) for name in ("linear", "constant", "measured")] == [1, 1, 1]
    axes = drawn[0].axes[0]
    assert (len(drawn[0].axes), axes.get_xscale(), axes.get_yscale()) == (4, "log", "log")
    linear, constant, measured = axes.lines
    assert list(linear.get_ydata()) == pytest.approx([1, 2, 4])  # the constant was found
    assert list(constant.get_ydata()) == pytest.approx([2, 2, 2])  # the geometric mean
    assert list(measured.get_ydata()) == [1.0, 2.0, 4.0]
    assert colors.same_color(linear.get_color(), COLOURS[0])


def test_the_same_numbers_give_the_same_files_and_settings_stay(tmp_path: Path) -> None:
    before = dict(rcParams)
    first, second = (
        [path.read_bytes() for path in bars(ABLATION, DATA, tmp_path / name, "t")]
        for name in ("a", "b")
    )
    assert first == second
    assert dict(rcParams) == before


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r'pip install "unseen\[paper\]"'):
        bars(ABLATION, DATA, tmp_path / "a", "t")
    assert not list(tmp_path.iterdir())


class Told(dict[Any, Any]):
    """A ledger in which every trial is finished, with an accuracy that says which it was."""

    def __init__(self, accuracy: Callable[[Any], float]) -> None:
        self.accuracy = accuracy

    def __contains__(self, trial: object) -> bool:
        return True

    def __getitem__(self, trial: Any) -> dict[str, float]:
        floor, accuracy = FLOORS[trial.data], self.accuracy(trial)
        return {
            "accuracy": accuracy,
            "macro": 1.0,
            "floor": floor,
            "classes given": 2,
            "seconds": 1.0,
        }


@pytest.fixture(params=[False, True], ids=["whole", "quick"])
def plan(request: pytest.FixtureRequest) -> Plan:
    return Plan(seeds=1, quick=request.param)


def test_the_ablation_figures(plan: Plan, drawn: list[Any], tmp_path: Path) -> None:
    def accuracy(trial: Any) -> float:
        local = trial.settings.get("local_weight") == 0.0
        return 50.0 - (5 if local else 0) - (10 if trial.settings["hops"] == 0 else 0)

    ledger: Any = Told(accuracy)
    paths = ablation.draw(plan, ledger, tmp_path)
    names = [
        f"ablation-{base}.{kind}" for base in ("dgpn", "dgpn-paper") for kind in ("png", "svg")
    ]
    assert [path.name for path in paths] == names
    for stem, title in (("dgpn", "DGPN, official code"), ("dgpn-paper", "DGPN, as printed")):
        texts = (tmp_path / f"ablation-{stem}.svg").read_text("utf-8")
        assert title in texts
        assert ("(quick)" in texts) == plan.quick
    for figure in drawn:
        groups = [c for c in figure.axes[0].containers if hasattr(c, "patches")]
        assert [g.get_label() for g in groups] == ["ProNet", "ProNet+GCN", "ProNet+GCN+LL"]
        assert [g.patches[0].get_height() for g in groups] == [35.0, 45.0, 50.0]


def test_the_sensitivity_figure(plan: Plan, drawn: list[Any], tmp_path: Path) -> None:
    ledger: Any = Told(lambda trial: 10 * trial.settings["hops"] + trial.settings["laziness"])
    paths = sensitivity.draw(plan, ledger, tmp_path)
    assert [path.name for path in paths] == ["sensitivity.png", "sensitivity.svg"]
    assert ("(quick)" in paths[1].read_text("utf-8")) == plan.quick
    assert len(drawn[0].axes) == 3
    for axes in drawn[0].axes:
        found = axes.images[0].get_array().tolist()
        expected = [[10 * k + beta for beta in (0.1, 0.3, 0.5, 0.7, 0.9)] for k in range(1, 6)]
        assert found == [pytest.approx(row) for row in expected]


@pytest.mark.parametrize("module", [ablation, sensitivity])
def test_figures_before_anything_was_run(module: Any, tmp_path: Path) -> None:
    for path in module.draw(Plan(), Ledger(tmp_path), tmp_path):
        assert path.stat().st_size > 1000

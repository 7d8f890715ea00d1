"""Whatever a user has in hand is read as meant, or refused with a sentence."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph
from unseen.core.labels import Labels
from unseen.io.inputs import as_classes, as_graph, as_labels

nx = pytest.importorskip("networkx")
pd = pytest.importorskip("pandas")

FRAMES = [pl.DataFrame, pd.DataFrame]
PETS = Classes(["cats", "dogs", "fish"])
TOLD = Classes(["cats", "dogs"], ["They purr.", None])
GRAPH = Graph(np.eye(3, k=1), texts=["t", "u", "v"], ids=["x", "y", "z"])
YEARS = Classes(["2019", "2020", "2021"])
NUMBERED = Classes(["0", "1", "2"])
SHIFTED = Classes(["1", "0", "2"])


class TestGraph:
    def test_a_graph_is_itself(self) -> None:
        assert as_graph(GRAPH) is GRAPH

    @pytest.mark.parametrize("frame", FRAMES)
    def test_frames(self, frame: Any) -> None:
        nodes = frame({"id": ["x", "y", "z"], "text": ["t", "u", None]})
        edges = frame({"source": ["x"], "target": ["y"]})
        assert as_graph((nodes, edges)).edges == 1
        assert as_graph((nodes, None)).edges == 0

    def test_networkx_and_pyg(self) -> None:
        class Mine(nx.DiGraph):  # type: ignore[misc,name-defined]
            """A type of another module, derived from one of NetworkX."""

        g = Mine([("x", "y")])
        nx.set_node_attributes(g, "t", "text")
        assert as_graph(g).directed
        pytest.importorskip("torch_geometric")
        assert as_graph(GRAPH.to_pyg()).texts == GRAPH.texts

    @pytest.mark.parametrize(
        "given", [None, "nodes.csv", ("nodes.csv", "edges.csv"), {}, np.eye(3), pl.DataFrame()]
    )
    def test_anything_else_is_refused(self, given: Any) -> None:
        with pytest.raises(InputError, match=r"^graph: found .*; expected a Graph, a PyG Data, a"):
            as_graph(given)


class TestClasses:
    @pytest.mark.parametrize(
        "given",
        [
            PETS,
            ["cats", "dogs", "fish"],
            ("cats", "dogs", "fish"),
            np.array(["cats", "dogs", "fish"]),
            np.array(["cats", "dogs", "fish"], dtype=object),
            pd.Series(["cats", "dogs", "fish"]),
            pd.Series(["cats", "dogs", "fish"], index=[7, 8, 9]),
            pd.Index(["cats", "dogs", "fish"]),
            pl.Series(["cats", "dogs", "fish"]),
            {"cats": None, "dogs": "", "fish": float("nan")},
            pl.DataFrame({"name": ["cats", "dogs", "fish"]}),
        ],
    )
    def test_names(self, given: Any) -> None:
        assert as_classes(given) == PETS

    @pytest.mark.parametrize(
        "given",
        [
            {"cats": "They purr.", "dogs": None},
            *(
                kind({"name": ["cats", "dogs"], "description": ["They purr.", ""]})
                for kind in FRAMES
            ),
            *(
                kind({"description": ["They purr.", None], "name": ["cats", "dogs"]})
                for kind in FRAMES
            ),
        ],
    )
    def test_descriptions_come_along(self, given: Any) -> None:
        assert as_classes(given) == TOLD

    @pytest.mark.parametrize("frame", FRAMES)
    def test_other_columns_are_named(self, frame: Any) -> None:
        assert as_classes(frame({"size": [1, 2], "name": ["a", "b"]})).unused_columns == ("size",)

    @pytest.mark.parametrize("form", [str, Path])
    def test_a_file(self, tmp_path: Path, form: Any) -> None:
        path = tmp_path / "classes.CSV"
        path.write_text("name,description\ncats,They purr.\ndogs,\n")
        assert as_classes(form(path)) == TOLD
        with pytest.raises(InputError, match="no such file"):
            as_classes("none.csv")

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            ("cats", r"found the string 'cats'; expected a list of names, \{name: description\}"),
            ("cats, dogs", "found the string"),
            ({"cats", "dogs"}, "found a set, which has no order; expected a list of names"),
            (frozenset(["cats"]), "found a frozenset, which has no order"),
            (3, "found an int; expected a list of names"),
            (None, "found a NoneType; expected"),
            ((name for name in PETS.names), "found a generator; expected"),
            ([["cats", "They purr."], ["dogs", ""]], "class 1 is a list; expected its name as te"),
            (["cats", None], "class 2 is a NoneType; expected its name as text"),
            ([0, 1], "class 1 is an int; expected its name as text"),
            ({0: "cats", 1: "dogs"}, "class 1 is an int; expected its name as text"),
            ({"name": ["cats", "dogs"]}, r"'name' is described by a list; expected \{name: desc"),
            (np.array([["cats", "dogs"]]), r"found an array of shape \(1, 2\); expected a list"),
            (np.array("cats"), r"found an array of shape \(\); expected"),
            (
                pd.Series({"cats": "They purr."}),
                "found a Series with an index of text.*`dict.series.`",
            ),
            (pl.DataFrame({"cats": [1], "dogs": [2]}), "no column `name`; found 'cats', 'dogs'"),
            (pd.DataFrame({"Name": ["cats", "dogs"]}), "no column `name`.*did you mean `Name`"),
            (pd.DataFrame({"name": ["a", "b"], "desc": ["", ""]}), ".*did you mean `desc`"),
        ],
    )
    def test_what_cannot_be_read_as_meant(self, given: Any, words: str) -> None:
        with pytest.raises(InputError, match=f"^classes: {words}"):
            as_classes(given)


class TestLabels:
    @pytest.mark.parametrize(
        "given",
        [
            Labels(np.array([2, -1, 0])),
            ["fish", None, "cats"],
            ("fish", "", " cats "),
            np.array(["fish", "", "cats"]),
            np.array(["fish", np.nan, "cats"], dtype=object),
            pl.Series(["fish", None, "cats"]),
            pl.Series([2, None, 0]),
            [2, -1, 0],
            [2, None, 0],
            [2.0, float("nan"), 0.0],
            np.array([2, -1, 0], dtype=np.int8),
            np.array([2, np.nan, 0]),
            [np.int64(2), np.nan, np.int64(0)],
            {"z": "cats", "x": "fish"},
            {"z": "cats", "x": "fish", "y": None},
            {"z": 0, "x": 2},
            pd.Series({"z": "cats", "x": "fish"}),
            pd.Series({"z": 0, "x": 2}),
            pd.Series(["fish", None, "cats"]),
            pd.Series(["fish", None, "cats"], dtype="category"),
            pd.Series([2, None, 0], dtype="Int64"),
            pd.Series([2, -1, 0], index=["x", "y", "z"]),
            *(kind({"label": ["cats", "fish"], "id": ["z", "x"]}) for kind in FRAMES),
            *(kind({"label": [0, None, 2], "id": ["z", "y", "x"]}) for kind in FRAMES),
        ],
    )
    def test_what_is_read_as_meant(self, given: Any) -> None:
        codes = as_labels(given, GRAPH, PETS).codes
        assert codes.tolist() == [2, -1, 0]
        assert codes.dtype == np.int64

    def test_tensors(self) -> None:
        torch = pytest.importorskip("torch")
        for given_ in (torch.tensor([2, -1, 0]), torch.tensor([2, np.nan, 0], requires_grad=True)):
            assert as_labels(given_, GRAPH, PETS).codes.tolist() == [2, -1, 0]

    def test_nothing_and_files(self, tmp_path: Path) -> None:
        assert as_labels(None, GRAPH, PETS).codes.tolist() == [-1, -1, -1]
        path = tmp_path / "labels.tsv"
        path.write_text("id\tlabel\ny\tdogs\n")
        assert as_labels(path, GRAPH, PETS).codes.tolist() == [-1, 1, -1]
        assert as_labels(str(path), GRAPH, PETS).codes.tolist() == [-1, 1, -1]

    @given(st.lists(st.integers(-1, 2), min_size=3, max_size=3))
    def test_names_and_positions_agree(self, codes: list[int]) -> None:
        given_names = [None if code < 0 else PETS.names[code] for code in codes]
        known = [code for code in codes if code >= 0]
        found = [as_labels(form, GRAPH, PETS).codes.tolist() for form in (codes, given_names)]
        found.append(as_labels(np.array(codes), GRAPH, PETS).codes.tolist())
        ids = dict(zip(GRAPH.ids or (), codes, strict=True))
        found.append(as_labels(ids, GRAPH, PETS).codes.tolist())
        assert found == [codes] * 4
        assert as_labels(found[0], GRAPH, PETS).seen().tolist() == sorted(set(known))

    @pytest.mark.parametrize("form", [list, np.array, pl.Series, pd.Series])
    def test_numbers_that_are_names(self, form: Any) -> None:
        assert as_labels(form([2021, 2019, -1]), GRAPH, YEARS).codes.tolist() == [2, 0, -1]
        assert as_labels(form([2, 0, -1]), GRAPH, YEARS).codes.tolist() == [2, 0, -1]
        assert as_labels(form([2, 0, -1]), GRAPH, NUMBERED).codes.tolist() == [2, 0, -1]
        assert as_labels(form(["1", "0", "2"]), GRAPH, SHIFTED).codes.tolist() == [0, 1, 2]
        for codes in ([1, 0, 2], [0, -1, -1]):
            with pytest.raises(InputError, match="the name of one class and the position of an"):
                as_labels(form(codes), GRAPH, SHIFTED)

    def test_a_series_by_position_by_id_or_neither(self) -> None:
        def numbered(ids: list[int]) -> Graph:
            return Graph(np.eye(3, k=1), texts=["t", "u", "v"], ids=list(map(str, ids)))

        given = pd.Series(["fish", None, "cats"])
        assert as_labels(given, numbered([0, 1, 2]), PETS).codes.tolist() == [2, -1, 0]
        assert as_labels(given, numbered([1, 2, 3]), PETS).codes.tolist() == [2, -1, 0]
        assert as_labels(given[:2], numbered([2, 1, 0]), PETS).codes.tolist() == [-1, -1, 2]
        with pytest.raises(InputError, match="could be node ids or the order of the nodes"):
            as_labels(given, numbered([2, 1, 0]), PETS)
        given.index = pd.Index([5, 7, 9])
        with pytest.raises(InputError, match=r"the index of the Series \('5', '7', '9'\) does not"):
            as_labels(given, GRAPH, PETS)

    @pytest.mark.parametrize(
        ("given", "words"),
        [
            (["cats"], r"found 1, but the graph has 3 nodes; .* give \{id: class\}"),
            (Labels(np.zeros(4, np.int64)), "found 4, but the graph has 3 nodes"),
            (Labels(np.array([0, 3, 0])), "found class position 3, but there are 3 classes; expec"),
            ([0, 3, 1], "found class position 3, but there are 3 classes; expected 0 to 2, or -1"),
            ([0, -2, 1], "found class position -2"),
            (np.array([0, 10**9, 1]), "found class position 1000000000"),
            ([0, 10**30, 1], f"found class position {10**30}"),
            ([0, 0.5, 1], "found fractions and whole numbers; expected class names, or class posi"),
            ([0, float("inf"), 1], "found fractions and whole numbers"),
            ([True, False, True], "found booleans; expected class names, or class positions"),
            (np.array([True, False, True]), "found booleans"),
            (["cats", 1, None], "found names and whole numbers; expected"),
            ([["cats"], ["dogs"], []], "found lists; expected"),
            (["cats", "cows", None], r"'cows' \(first at row 2\) is not among the classes"),
            ({"x": "cows"}, "'cows' .* is not among the classes"),
            ({"q": "cats"}, "'q' not among the nodes of the graph; every labelled id must be a no"),
            ({7: "cats"}, "'7' not among the nodes"),
            (pd.Series(["cats", "dogs"], index=["x", "x"]), "node 'x' is listed with two labels"),
            ("cats", r"found the string 'cats'; expected \{id: class\}, one class name or posit"),
            ({"cats", "dogs"}, "found a set, which has no order; expected"),
            (1, "found an int; expected"),
            (np.zeros((3, 3), int), r"found an array of shape \(3, 3\); expected"),
            (pl.DataFrame({"id": ["x"], "class": ["cats"]}), "no column `label`; found 'id', 'cl"),
            (pl.DataFrame({"ID": ["x"], "label": ["cats"]}), "no column `id`.*did you mean `ID`"),
        ],
    )
    def test_labels_that_cannot_be_read_as_meant(self, given: Any, words: str) -> None:
        with pytest.raises(InputError, match=f"^labels: {words}"):
            as_labels(given, GRAPH, PETS)

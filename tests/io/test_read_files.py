"""Graphs, classes and labels from files: what is accepted, and the wording of what is not."""

import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.core.graph import Graph, Repairs
from unseen.core.labels import Labels
from unseen.io.read import read_classes, read_graph, read_inputs, read_labels
from unseen.io.tables import Table, read_table

NODES = "id,text,label\na,a cat,cats\nb,a dog,dogs\nc,a cow,\n"
EDGES = "source,target\na,b\nb,c\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, so that files can be named as a user would: without one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def graph(nodes: str = NODES, edges: str = EDGES, **options: bool) -> Graph:
    Path("nodes.csv").write_text(nodes, encoding="utf-8")
    Path("edges.csv").write_text(edges, encoding="utf-8")
    return read_graph("nodes.csv", "edges.csv", **options)  # type: ignore[arg-type]


def classes(content: str = "name\ncats\ndogs\n") -> Classes:
    Path("classes.csv").write_text(content, encoding="utf-8")
    return read_classes("classes.csv")


def labels(content: str, of: Graph | None = None, among: Classes | None = None) -> Labels:
    Path("labels.csv").write_text(content, encoding="utf-8")
    return read_labels("labels.csv", of or graph(), among or classes())


def starts(*parts: str) -> str:
    return "^" + ".*".join(map(re.escape, parts))


@pytest.mark.usefixtures("folder")
class TestGraph:
    def test_texts_edges_and_ids(self) -> None:
        g = graph("id,text,label\n007,a cat,x\n7,a dog,\n", "source,target\n007,7\n")
        assert g.ids == ("007", "7")
        assert g.texts == ("a cat", "a dog")
        assert g.features is None
        assert g.adjacency.toarray().tolist() == [[0, 1], [1, 0]]

    def test_numeric_columns_are_features(self) -> None:
        g = graph("x,id,text,y\n1,a,t, 2 \n-1e-3,b,t,.5\n0,c,t,+3\n")
        assert g.features.tolist() == [[1, 2], [np.float32(-1e-3), 0.5], [0, 3]]
        assert g.features.dtype == np.float32

    def test_directed_and_weights(self) -> None:
        g = graph(edges="source,target,weight\na,b,2\nb,c,0.5\n", directed=True)
        assert g.adjacency.toarray().tolist() == [[0, 2, 0], [0, 0, 0.5], [0, 0, 0]]

    def test_what_can_be_repaired_is_counted(self) -> None:
        g = graph(edges="source,target\na,b\nb,a\na,b\na,a\n")
        assert g.repairs == Repairs(duplicate_edges=2, self_loops=1, isolated_nodes=1)

    def test_no_edges(self) -> None:
        g = graph(edges="source,target,weight\n")
        assert (g.edges, g.repairs.isolated_nodes) == (0, 3)

    def test_spaces_around_ids_do_not_count(self) -> None:
        assert graph(edges="source,target\na , b\n").edges == 1

    def test_composed_and_decomposed_accents_are_one_id(self) -> None:
        g = graph("id,text\ne\u0301,t\u0301\nb,t\n", "source,target\n\u00e9,b\n")
        assert g.ids == ("\u00e9", "b")
        assert g.texts == ("t\u0301", "t"), "texts are left as they are"

    @pytest.mark.parametrize(
        ("nodes", "parts"),
        [
            ("id,text\n", ["nodes.csv: has columns ('id', 'text') but no rows", "each node"]),
            ("name,text\na,b\n", ["nodes.csv: no column `id`; found 'name', 'text'"]),
            ("id\na\n", ["nodes.csv: nodes have neither a text nor features; found 'id'; add a"]),
            ("id,text\na,t\nb,t\na,t\n", ["nodes.csv line 4: id 'a' is already on line 2"]),
            ('id,text\na,"t\nt"\na,t\n', ["nodes.csv line 4: id 'a' is already on line 2"]),
            ("id,text\na,t\n ,t\n", ["nodes.csv line 3: `id` is empty; every node needs an id"]),
            (
                "id,text\na,\nb, \n",
                ["nodes.csv: nodes have neither any text nor features; found 'id'"],
            ),
            (
                "id,x,year\na,1,1\nb,2,n/a\n",
                [
                    "nodes.csv line 3: column `year` holds 'n/a'",
                    "is a feature and must be numeric; correct the cell",
                ],
            ),
            ("id,x\na,1\nb,NaN\n", ["nodes.csv line 3: column `x` holds 'NaN'", "finite"]),
            ("id,x\na,-inf\nb,1\n", ["nodes.csv line 2: column `x` holds '-inf'", "finite"]),
            ("id,x\na,1e300\n", ["nodes.csv line 2: column `x` holds '1e300'", "finite"]),
            ("id,x\na,1\nb,\n", ["nodes.csv line 3: column `x` is empty; every feature must"]),
            ('id,x\na,"1,5"\nb,1\n', ["nodes.csv line 2: column `x` holds '1,5'", "numeric"]),
            *(
                (
                    f"id,x,{column}\na,1,u\n",
                    [f"nodes.csv: no column `{ours}`", f"did you mean `{column}`? rename", option],
                )
                for column, ours, option in (
                    ("Text", "text", "text_columns='Text' (--text-columns)"),
                    ("texts", "text", "text_columns="),
                    ("LABEL", "label", "label_column='LABEL' (--label-column)"),
                    ("labels", "label", "label_column="),
                )
            ),
            (
                "ID,text\na,t\n",
                ["nodes.csv: no column `id`", "did you mean `ID`?", "id_column='ID'"],
            ),
            ("node,text\na,t\n", ["nodes.csv: no column `id`", "name it: id_column='yours'"]),
        ],
    )
    def test_nodes_that_cannot_be_used(self, nodes: str, parts: list[str]) -> None:
        with pytest.raises(InputError, match=starts(*parts)):
            graph(nodes)

    @pytest.mark.parametrize(
        ("edges", "parts"),
        [
            ("from,to\na,b\n", ["edges.csv: no column `source`; found 'from', 'to'"]),
            ("source,to\na,b\n", ["edges.csv: no column `target`", "target_column="]),
            ("Source,target\na,b\n", ["edges.csv: no column `source`", "did you mean `Source`?"]),
            ("source,target,Weights\na,b,2\n", ["edges.csv: no column `weight`", "`Weights`?"]),
            (
                "source,target\na,b\nz,b\nc,y\n",
                ["edges.csv line 3: unknown node 'z' as source (2 such edges)", "ids of nodes.csv"],
            ),
            ("source,target\na,z\n", ["edges.csv line 2: unknown node 'z' as target"]),
            ("source,target\n,a\n", ["edges.csv line 2: `source` is empty"]),
            ("source,target\na,\n", ["edges.csv line 2: `target` is empty"]),
            *(
                (
                    f"source,target,weight\na,b,1\nb,c,{weight}\n",
                    [f"edges.csv line 3: weight '{weight}'; a weight must be a positive, finite"],
                )
                for weight in ("-1", "0", "nan", "inf", "much", "", "1e-60", "1e60")
            ),
        ],
    )
    def test_edges_that_cannot_be_used(self, edges: str, parts: list[str]) -> None:
        with pytest.raises(InputError, match=starts(*parts)):
            graph(edges=edges)

    def test_integer_ids_match_across_formats(self) -> None:
        pl.DataFrame({"id": [7, 8], "text": ["t", "u"]}).write_parquet("n.parquet")
        Path("e.jsonl").write_text('{"source": 7, "target": "8"}\n')
        pl.DataFrame({"source": [7.0, None], "target": [8.0, 7.0]}).write_parquet("f.parquet")
        g = read_graph("n.parquet", "e.jsonl")
        assert (g.ids, g.edges) == (("7", "8"), 1)
        with pytest.raises(InputError, match=r"^f\.parquet row 2: `source` is empty"):
            read_graph("n.parquet", "f.parquet")

    @pytest.mark.parametrize("apart", [1, 10**15])
    def test_integers_give_the_graph_and_the_errors_of_strings(self, apart: int) -> None:
        ids = pl.Series("id", [30, -10, 20]) * apart
        nodes = pl.DataFrame({"id": ids, "text": ["t", "u", "v"]})
        nodes.write_parquet("n.parquet")
        nodes.write_csv("n.csv")
        found = []
        for last in (20, 40):
            ends = {"source": [30, -10], "target": [-10, last]}
            edges = pl.DataFrame({end: pl.Series(given) * apart for end, given in ends.items()})
            edges.write_parquet("e.parquet")
            edges.write_csv("e.csv")
            for kind in ("parquet", "csv"):
                try:
                    g = read_graph(f"n.{kind}", f"e.{kind}")
                except InputError as error:
                    found.append(str(error).replace(kind, "csv").replace("row 2", "line 3"))
                else:
                    found.append(f"{g.ids} {g.adjacency.toarray().tolist()}")
        assert found[0] == found[1]
        assert found[2] == found[3]
        assert found[2].startswith(f"e.csv line 3: unknown node '{40 * apart}' as target")

    def test_one_integer_id_twice(self) -> None:
        pl.DataFrame({"id": [7, 8, 7], "text": ["t", "u", "v"]}).write_parquet("n.parquet")
        Path("e.csv").write_text("source,target\n")
        with pytest.raises(InputError, match=r"^n\.parquet row 3: id '7' is already on row 1"):
            read_graph("n.parquet", "e.csv")

    def test_some_ids_of_edges_need_tidying_and_some_do_not(self) -> None:
        g = graph("id,text\n\u00e9,t\nb,u\nc,v\n", "source,target\nb,c\n e\u0301 , b\n")
        assert g.adjacency.toarray().tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]

    @pytest.mark.parametrize("value", [7.5, float("inf"), 2.0**53])
    def test_floats_that_are_no_ids(self, value: float) -> None:
        pl.DataFrame({"id": [7.0, value], "text": ["t", "u"]}).write_parquet("n.parquet")
        Path("edges.csv").write_text(EDGES)
        expected = starts("n.parquet row 2: `id` holds the number", "whole numbers", "to text")
        with pytest.raises(InputError, match=expected):
            read_graph("n.parquet", "edges.csv")

    @pytest.mark.parametrize("column", ["id", "text"])
    def test_columns_of_lists(self, column: str) -> None:
        pl.DataFrame({"id": ["a"], "text": ["t"]}).with_columns(
            pl.concat_list(column).alias(column)
        ).write_parquet("n.parquet")
        with pytest.raises(InputError, match=starts(f"n.parquet row 1: `{column}` holds a list")):
            read_graph("n.parquet")
        Path("n.jsonl").write_text('{"id": 1, "text": "t"}\n{"id": [2], "text": {}}\n')
        with pytest.raises(InputError, match=starts("n.jsonl line 2: `id` holds a list; expected")):
            read_graph("n.jsonl")

    @pytest.mark.parametrize("column", ["id", "text", "label"])
    def test_columns_that_are_no_text(self, column: str) -> None:
        frame = pl.DataFrame({"id": ["a"], "text": ["t"], "label": ["A"]})
        frame.with_columns(pl.duration(hours=1).alias(column)).write_parquet("n.parquet")
        Path("c.csv").write_text("name\nA\nB\n")
        expected = starts(f"n.parquet: `{column}` holds values of type Duration", "convert")
        with pytest.raises(InputError, match=expected):
            read_inputs("n.parquet", None, "c.csv")

    def test_columns_of_vectors(self) -> None:
        frame = pl.DataFrame({"id": ["a"], "text": ["t"], "v": [[0.5, 1.0]], "tags": [["x"]]})
        frame.drop("v").write_parquet("n.parquet")
        assert read_graph("n.parquet").repairs.unused_columns == ("tags",)
        frame.write_parquet("n.parquet")
        with pytest.raises(InputError, match=starts("n.parquet row 1: `v` holds a list of number")):
            read_graph("n.parquet")

    def test_unused_columns_are_named(self) -> None:
        header, *rows = "id,journal,text,empty,mixed,year", "a,N,t,,1,1990", "b,C,u,,x,1991"
        g = graph(
            "\n".join((header, *rows, "c,P,v,,y,1")), "source,target,kind,weight\na,b,cites,2\n"
        )
        assert g.repairs.unused_columns == ("journal", "empty", "mixed", "edges.kind")
        assert g.features.tolist() == [[1990], [1991], [1]]

    def test_names_of_roles_are_never_features(self) -> None:
        Path("nodes.csv").write_text("node,words,topic,id,label,Labels\na,t,x,1,2,3\nb,u,y,4,5,6\n")
        g = read_graph("nodes.csv", id_column="node", text_columns="words", label_column="topic")
        assert g.features is None
        assert g.repairs.unused_columns == ("id", "label", "Labels")

    def test_a_label_is_no_text(self) -> None:
        graph()
        with pytest.raises(InputError, match="`label` is named as the label and as the id or a"):
            read_graph("nodes.csv", text_columns=["text", "label"])

    @pytest.mark.parametrize("option", ["text_columns", "label_column"])
    def test_a_column_that_was_asked_for_has_to_be_there(self, option: str) -> None:
        graph()
        with pytest.raises(InputError, match=starts("nodes.csv: no column `title`", option)):
            read_graph("nodes.csv", **{option: "title"})  # type: ignore[arg-type]

    def test_no_edges_file(self) -> None:
        graph()
        assert read_graph("nodes.csv").repairs.isolated_nodes == 3

    def test_typed_feature_columns(self) -> None:
        frame = pl.DataFrame({"id": ["a", "b"], "x": [True, False], "y": [1, 2], "z": ["3", "4"]})
        frame.with_columns(pl.col("z").cast(pl.Categorical)).write_parquet("n.parquet")
        Path("e.csv").write_text("source,target\na,b\n")
        assert read_graph("n.parquet", "e.csv").features.tolist() == [[1, 1, 3], [0, 2, 4]]
        frame.with_columns(day=pl.date(2024, 1, 1)).write_parquet("n.parquet")
        assert read_graph("n.parquet", "e.csv").repairs.unused_columns == ("day",)


@pytest.mark.usefixtures("folder")
class TestClasses:
    def test_names_and_descriptions(self) -> None:
        found = classes('name,description\nbig  cats,"Lions, tigers."\ndogs,\n')
        assert found == Classes(["big cats", "dogs"], ["Lions, tigers.", None])
        assert classes("name\ncats\n\ndogs\n") == Classes(["cats", "dogs"])
        assert classes("name,size\ncats,1\ndogs,2\n").unused_columns == ("size",)

    @pytest.mark.parametrize(
        ("content", "parts"),
        [
            ("class\na\nb\n", ["classes.csv: no column `name`; found 'class'"]),
            ("Name\na\nb\n", ["classes.csv: no column `name`", "did you mean `Name`?"]),
            *(
                (
                    f"name,{near}\na,x\nb,y\n",
                    ["classes.csv: no column `description`", f"did you mean `{near}`?"],
                )
                for near in ("Description", "descriptions", "desc")
            ),
            ("name\n", ["classes.csv: has columns ('name') but no rows", "each class"]),
            ("name\ncats\n", ["classes.csv: found one class only ('cats')", "at least two"]),
            ("name,x\na,1\nb,1\n a ,1\n", ["classes.csv line 4: class 'a' is already on line 2"]),
            ("name\n\u00e9\ne\u0301\n", ["classes.csv line 3: class 'é' is already on line 2"]),
            ("name,x\na,1\n,1\n", ["classes.csv line 3: `name` is empty"]),
        ],
    )
    def test_classes_that_cannot_be_used(self, content: str, parts: list[str]) -> None:
        with pytest.raises(InputError, match=starts(*parts)):
            classes(content)

    def test_descriptions_that_are_lists(self) -> None:
        Path("c.jsonl").write_text('{"name": "a"}\n{"name": "b", "description": ["x"]}\n')
        with pytest.raises(InputError, match=r"^c\.jsonl line 2: `description` holds a list"):
            read_classes("c.jsonl")


@pytest.mark.usefixtures("folder")
class TestLabels:
    def test_a_nodes_file_works(self) -> None:
        g = graph()
        assert read_labels("nodes.csv", g, classes()).codes.tolist() == [0, 1, -1]

    def test_a_file_of_its_own_in_any_order(self) -> None:
        found = labels("label,id\n dogs ,c\ncats,a\ncats,a\n,a\n")
        assert found.codes.tolist() == [0, -1, 1]

    def test_accents_and_spaces_match(self) -> None:
        g = Graph([[0, 1], [1, 0]], texts=["t", "t"], ids=["e\u0301", "b"])
        among = Classes(["o\u0308 x", "y"])
        assert labels("id,label\n\u00e9,\u00f6  x\n", g, among).codes.tolist() == [0, -1]

    @pytest.mark.parametrize(
        ("content", "parts"),
        [
            ("id,class\na,cats\n", ["labels.csv: no column `label`; found 'id', 'class'"]),
            ("id,label\n", ["labels.csv: has columns ('id', 'label') but no rows"]),
            (
                "id,label\na,cats\nb,Dog\n",
                [
                    "labels.csv line 3: label 'Dog' is not a class; the classes are 'cats', 'dogs'",
                    "did you mean 'dogs'?",
                    "correct the label or add the class",
                ],
            ),
            ("id,label\na,zebra\n", ["labels.csv line 2: label 'zebra'", "'dogs'; correct"]),
            ("id,label\na,cats\nz,cats\n", ["labels.csv line 3: unknown node 'z'"]),
            ("id,label\n,cats\n", ["labels.csv line 2: `id` is empty"]),
            (
                "id,label\na,cats\nb,dogs\na,dogs\n",
                ["labels.csv line 4: node 'a' is labelled 'dogs' but on line 2 it is 'cats'"],
            ),
        ],
    )
    def test_labels_that_cannot_be_used(self, content: str, parts: list[str]) -> None:
        with pytest.raises(InputError, match=starts(*parts)):
            labels(content)


@pytest.mark.usefixtures("folder")
class TestInputs:
    def test_every_file_is_read_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        graph()
        expected = classes()
        seen: list[str] = []

        def counted(path: Path | str) -> Table:
            seen.append(str(path))
            return read_table(path)

        monkeypatch.setattr("unseen.io.read.read_table", counted)
        g, among, known = read_inputs("nodes.csv", "edges.csv", "classes.csv")
        assert sorted(seen) == ["classes.csv", "edges.csv", "nodes.csv"]
        assert (g.nodes, g.edges, among) == (3, 2, expected)
        assert known.codes.tolist() == [0, 1, -1]

    def test_names_of_columns_and_classes_in_hand(self) -> None:
        Path("n.csv").write_text("key,words,kind\na,t,dogs\nb,,\n")
        names = {"id_column": "key", "text_columns": "words", "label_column": "kind"}
        pets = Classes(["cats", "dogs"])
        g, among, known = read_inputs("n.csv", None, pets, **names)  # type: ignore[arg-type]
        assert (g.texts, g.edges, among, known.codes.tolist()) == (("t", ""), 0, pets, [1, -1])
        again = read_labels("n.csv", g, pets, id_column="key", label_column="kind")
        assert again.codes.tolist() == [1, -1]

    def test_no_label_column_is_no_labels(self) -> None:
        Path("n.csv").write_text("id,text\na,t\nb,u\n")
        _, _, known = read_inputs("n.csv", None, Classes(["cats", "dogs"]))
        assert known.codes.tolist() == [-1, -1]

    def test_nodes_beside_a_graph(self) -> None:
        old = graph()
        Path("n.csv").write_text("id,text,label\nd,a fox,dogs\n")
        Path("e.csv").write_text("source,target\nd,a\n")
        g, _, known = read_inputs("n.csv", "e.csv", classes(), beside=old)
        assert (g.ids, g.edges) == (("a", "b", "c", "d"), 3)
        assert known.codes.tolist() == [-1, -1, -1, 1]

"""What people say: votes, disagreement, undo, accuracy, files."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from serve.conftest import Connect
from unseen.io.tables import parse_table
from unseen.serve import label_files
from unseen.serve.labels import agreed, wilson


def test_most_say_what_it_is() -> None:
    assert agreed({"a": "x"}) == "x"
    assert agreed({"a": "x", "b": "y"}) is None
    assert agreed({"a": "x", "b": "y", "c": "x"}) == "x"
    assert agreed({"a": "", "b": ""}) == ""


def test_wilson_is_the_textbook_formula() -> None:
    z, n, p = 1.959963984540054, 30, 24 / 30
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * (p * (1 - p) / n + z**2 / (4 * n**2)) ** 0.5
    found = wilson(24, 30)
    assert (found["low"], found["high"]) == pytest.approx((middle - half, middle + half))


def test_the_latest_answer_of_a_person_counts(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:

        def say(person: str, name: str | None) -> dict[str, object]:
            kind = "none" if name is None else "class"
            answers = [{"id": "n8", "kind": kind, "class": name}]
            body = {"person": person, "answers": answers}
            return dict(client.post("/labels", json=body).json()["items"][0])

        say("Ada", "law")
        assert say("Ada", "sports")["disagreement"] is False
        assert say("Bob", "law")["disagreement"] is True
        summary = client.get("/labels/summary").json()
        (apart,) = summary["disagreements"]
        assert {(a["person"], a["class"]) for a in apart["answers"]} == {
            ("Ada", "sports"),
            ("Bob", "law"),
        }
        assert client.get("/labels?disagreement=true").json()["total"] == 3
        assert client.get("/run").json()["labels"] == {
            "answers": 3,
            "people": 2,
            "disagreements": 1,
        }
        assert client.get("/nodes?id=n8").json()["items"][0]["label"] == {"disagreement": True}
        assert client.post("/learn", json={"person": "Ada"}).status_code == 409  # no label left
        assert client.post("/labels/undo", json={"person": "Bob"}).status_code == 200
        label = client.get("/nodes?id=n8").json()["items"][0]["label"]
        assert label["name"] == "sports"
        assert client.post("/labels/undo", json={"person": "Bob"}).status_code == 404


def test_nobody_undoes_what_another_said(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        body = {"person": "Ada", "answers": [{"id": "n8", "class": "law"}]}
        number = client.post("/labels", json=body).json()["items"][0]["answer_id"]
        other = client.post("/labels/undo", json={"person": "Bob", "answer_id": number})
        assert other.status_code == 404


def test_accuracy_is_of_the_answers_before(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        assert client.get("/labels/summary").json()["accuracy"] is None
        names = [c["name"] for c in client.get("/classes").json()["items"]]
        items = client.get("/queue?person=Ada&limit=5").json()["items"]
        right = [names[item["class"]] for item in items[:3]]
        wrong = [names[(item["class"] + 1) % 4] for item in items[3:]]
        answers = [
            {"id": item["id"], "class": name, "queue": "errors"}
            for item, name in zip(items, right + wrong, strict=True)
        ]
        answers.append({"id": "n/0", "kind": "skip"})
        client.post("/labels", json={"person": "Ada", "answers": answers})
        # whoever repeats what a model has learned by then does not make it right
        client.post("/labels", json={"person": "Bob", "answers": answers[3:5]})
        found = client.get("/labels/summary").json()["accuracy"]
        assert (found["right"], found["of"]) == (3, 5)
        assert found["low"] < 0.6 < found["high"]
        assert [each["queue"] for each in found["by_queue"]] == ["errors"]


def test_a_queue_leaves_out_what_a_person_answered(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        for kind in ("errors", "teach"):
            first = client.get(f"/queue?kind={kind}&person={kind}&limit=3").json()["items"]
            answers = [{"id": first[0]["id"], "kind": "skip"}]
            client.post("/labels", json={"person": kind, "answers": answers})
            then = client.get(f"/queue?kind={kind}&person={kind}&limit=3").json()["items"]
            assert [n["id"] for n in then[:2]] == [n["id"] for n in first[1:]]
            other = client.get(f"/queue?kind={kind}&person=Bob&limit=3").json()["items"]
            assert [n["id"] for n in other] == [n["id"] for n in first]
        errors = client.get("/queue?kind=errors&limit=200").json()["items"]
        confidence = [node["confidence"] for node in errors]
        assert confidence == sorted(confidence)


@pytest.mark.parametrize("format", ["csv", "labelstudio"])
def test_labels_go_out_and_come_in_again(
    one_run: Path, connect: Connect, tmp_path: Path, format: str
) -> None:
    with connect(one_run) as client:
        answers = [
            {"id": "n8", "class": "law"},
            {"id": "n/5", "class": "sports"},
            {"id": "n9", "kind": "none"},
        ]
        client.post("/labels", json={"person": "Ada, the first", "answers": answers})
        raw = client.get(f"/labels/export?format={format}").content
        while client.post("/labels/undo", json={"person": "Ada, the first"}).status_code == 200:
            pass
        assert client.get("/labels/summary").json()["nodes"] == 0
        found = client.post(f"/labels/import?format={format}&person=Eve", content=raw).json()
        assert (found["imported"], found["skipped"]) == (3, 0)
        items = client.get("/labels").json()["items"]
        assert {(i["id"], i["kind"], i["class"], i["person"]) for i in items} == {
            ("n8", "class", "law", "Ada, the first"),
            ("n/5", "class", "sports", "Ada, the first"),
            ("n9", "none", None, "Ada, the first"),
        }


def test_long_files_are_read_in_time_that_grows_with_their_length(
    one_run: Path, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []

    def look(at: int) -> str:
        looks.append(at)
        return f"line {at + 2}"

    real = parse_table
    monkeypatch.setattr(
        label_files, "parse_table", lambda raw, name: replace(real(raw, name), place=look)
    )
    with connect(one_run) as client:
        raw = b"id,class\n" + b"n8,law\n" * 300 + b"nobody,law\n" * 50 + b"n9,\n" * 50
        found = client.post("/labels/import?person=Eve", content=raw).json()
        assert (found["imported"], found["skipped"], len(found["problems"])) == (300, 100, 20)
        assert all(found["problems"])
    assert len(looks) <= 40  # each may look through the whole file


def test_a_spreadsheet_computes_nothing_that_people_wrote(one_run: Path, connect: Connect) -> None:
    bad = "=HYPERLINK(1)"
    with connect(one_run) as client:
        client.post("/nodes", json={"person": "Ada", "nodes": [{"id": "+1", "text": "a verdict"}]})
        body = {"person": bad, "answers": [{"id": "+1", "class": "law"}]}
        assert client.post("/labels", json=body).status_code == 201
        raw = client.get("/labels/export?spreadsheet=true").content
        (row,) = csv.DictReader(io.StringIO(raw.decode()))
        assert (row["id"], row["person"]) == ("'+1", f"'{bad}")
        plain = client.get("/labels/export").text
        assert next(csv.DictReader(io.StringIO(plain)))["person"] == bad
        assert client.post("/labels/undo", json={"person": bad}).status_code == 200
        assert client.post("/labels/import", content=raw).json()["imported"] == 1
        (item,) = client.get("/labels").json()["items"]
        assert (item["id"], item["person"]) == ("+1", bad)


def test_exports_have_what_others_read(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        body = {"person": "Ada", "answers": [{"id": "n8", "class": "law", "queue": "teach"}]}
        client.post("/labels", json=body)
        (row,) = csv.DictReader(io.StringIO(client.get("/labels/export").text))
        assert (row["id"], row["class"], row["queue"]) == ("n8", "law", "teach")
        (task,) = json.loads(client.get("/labels/export?format=labelstudio").text)
        assert task["annotations"][0]["result"][0]["value"]["choices"] == ["law"]
        assert 0 < task["predictions"][0]["score"] <= 1


def _law() -> dict[str, object]:
    return {"value": {"choices": ["law"]}}


def test_what_cannot_be_imported_is_told(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        table = b"id,class\nnobody,law\nn8,law\nn9,nothing\n,law\n"
        found = client.post("/labels/import?person=Eve", content=table).json()
        assert found["imported"] == 1
        assert len(found["problems"]) == 3
        assert client.post("/labels/import", content=b"\xff\xfe").status_code == 422
        for strange in (  # every one was an answer that nobody had given, or an error of ours
            b"id,class\nn9\n",
            b"id,class,class\nn9,law,sports\n",
            b"id,id,class\nn9,n8,law\n",
            b"id,class\nn9,law,sports\n",
            b"id,class,Kind\nn9,law,skip\n",
            b"id,Class\nn9,law\n",
            b"id,class\nn9\0,law\n",
            b"",
        ):
            assert client.post("/labels/import", content=strange).status_code == 422
        found = client.post("/labels/import", content=b"id,class\nn9,\nn10, \n").json()
        assert (found["imported"], found["skipped"]) == (0, 2)
        assert "line 2: has no class" in found["problems"][0]
        found = client.post("/labels/import", content=b"id,class\nn9,none of these\n").json()
        assert (found["imported"], found["skipped"]) == (1, 0)
        for field in ("id", "choice", "completed_by", "created_at"):
            given = {"id": "n9", "choice": "law", "completed_by": "Ada", "created_at": "2026"}
            given[field] = "\ud800"
            annotation = {"result": [{"value": {"choices": [given.pop("choice")]}}], **given}
            task = {"data": {"id": given["id"]}, "annotations": [annotation]}
            raw = json.dumps([task]).encode()
            answer = client.post("/labels/import?format=labelstudio", content=raw)
            assert (answer.status_code, answer.json()["imported"]) == (200, 0)
        result = [{"value": {"choices": ["law", "sports"]}}]
        for one in ({"result": result}, {"result": [_law()], "was_cancelled": True}):
            raw = json.dumps([{"data": {"id": "n9"}, "annotations": [one]}]).encode()
            answer = client.post("/labels/import?format=labelstudio", content=raw)
            assert (answer.json()["imported"], answer.json()["skipped"]) == (0, 1)
        assert client.post("/labels/import", content=b"a,b\n1,2\n").status_code == 422
        for raw in (b"{}", b"[", b"[1]", b'[{"data": {"id": "n8"}, "annotations": [1]}]'):
            found = client.post("/labels/import?format=labelstudio", content=raw)
            assert found.status_code in (200, 422)

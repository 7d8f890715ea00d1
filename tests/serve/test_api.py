"""The API: shapes, errors, pages, tokens, origins, limits, idempotency."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from serve.conftest import NODES, Connect
from unseen.serve import shapes

ADA = {"person": "Ada"}
SHAPES: dict[str, Any] = {
    "/run": shapes.Run,
    "/map": shapes.Map,
    "/nodes": shapes.Briefs,
    "/nodes/n1": shapes.NodeView,
    "/nodes/n%2F5": shapes.NodeView,
    "/view?position=3": shapes.NodeView,
    "/search?q=garlic": shapes.Found,
    "/classes": shapes.ClassList,
    "/classes/1": shapes.ClassView,
    "/versions": shapes.VersionList,
    "/versions/1/changes": shapes.Changes,
    "/jobs": shapes.JobList,
    "/labels": shapes.LabelPage,
    "/labels/summary": shapes.LabelSummary,
    "/queue?kind=errors": shapes.Queue,
    "/queue?kind=teach": shapes.Queue,
    "/health": shapes.Health,
    "/ready": shapes.Health,
}


def test_answers_have_the_shapes_of_the_document(run: Path, connect: Connect) -> None:
    with connect(run) as client:
        for path, shape in SHAPES.items():
            found = client.get(path)
            assert found.status_code == 200, (path, found.text)
            shape.model_validate(found.json())


def test_the_map_has_twelve_bytes_a_node(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        meta = client.get("/map").json()
        found = client.get("/map/arrays", params={"version": meta["version"]})
        raw = found.content
        assert len(raw) == meta["bytes"] == 12 * NODES
        xy = np.frombuffer(raw[: 8 * NODES], "<f4")
        label = np.frombuffer(raw[8 * NODES : 10 * NODES], "<u2")
        flags = np.frombuffer(raw[11 * NODES :], np.uint8)
        assert np.abs(xy).max() <= 1
        assert (flags & 1).sum() == 6
        sizes = [c["nodes"] + c["known"] for c in client.get("/classes").json()["items"]]
        assert np.bincount(label, minlength=4).tolist() == sizes
        tag = {"If-None-Match": found.headers["etag"]}
        assert client.get("/map/arrays", headers=tag).status_code == 304
        assert client.get("/map/arrays?version=99").status_code == 404


def test_pages_cover_a_list_once(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        for query in ("", "class=1&", "class=1&order=least&"):
            seen: list[str] = []
            cursor = ""
            while True:
                found = client.get(f"/nodes?{query}limit=50{cursor}").json()
                seen += [each["id"] for each in found["items"]]
                if found["next"] is None:
                    break
                cursor = f"&cursor={found['next']}"
            assert len(set(seen)) == len(seen) == found["total"]
        confidence = [n["confidence"] for n in client.get("/nodes?class=1").json()["items"]]
        assert confidence == sorted(confidence, reverse=True)


def test_a_run_may_lie_in_a_folder_of_any_name(
    one_run: Path, connect: Connect, tmp_path: Path
) -> None:
    odd = one_run.rename(tmp_path / "50% of #1?mode=rw&x")
    with connect(odd) as client:
        assert client.get("/search?q=garlic").json()["items"]


def test_search_finds_ids_and_beginnings_of_words(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        assert client.get("/search?q=n%2F5").json()["items"][0]["id"] == "n/5"
        found = client.get("/search?q=garl&limit=200").json()["items"]
        assert found
        assert all("garlic" in each["snippet"].lower() for each in found)
        assert client.get("/search?q=%22%20OR%20%2A").status_code == 200  # no query language


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/nodes/none-such", 404, "not_found"),
        (f"/nodes/{'a' * 5000}", 404, "not_found"),
        ("/classes/77", 404, "not_found"),
        ("/nodes?class=77", 404, "not_found"),
        ("/nodes?cursor=zzz", 422, "invalid"),
        ("/nodes?limit=0", 422, "invalid"),
        ("/search", 422, "invalid"),
        ("/view", 422, "invalid"),
        ("/jobs/j99", 404, "not_found"),
        ("/versions/9/changes", 404, "not_found"),
        ("/nothing", 404, "not_found"),
        ("/learn", 405, "method_not_allowed"),
    ],
)
def test_errors_have_one_shape(
    one_run: Path, connect: Connect, path: str, status: int, code: str
) -> None:
    with connect(one_run) as client:
        found = client.get(path)
        assert found.status_code == status
        body = shapes.Error.model_validate(found.json()).error
        assert body.code == code
        assert body.request_id == found.headers["x-request-id"]
        assert 0 < len(body.message) <= 500


def test_a_write_is_done_once(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        body = ADA | {"answers": [{"id": "n8", "class": "law"}]}
        key = {"Idempotency-Key": "one"}
        first = client.post("/labels", json=body, headers=key)
        again = client.post("/labels", json=body, headers=key)
        assert (first.status_code, again.status_code) == (201, 201)
        assert first.json() == again.json()
        assert again.headers["idempotent-replay"] == "true"
        assert client.get("/labels").json()["total"] == 1
        other = client.post("/labels", json=body | {"person": "Bob"}, headers=key)
        assert other.status_code == 409
        assert other.json()["error"]["code"] == "idempotency_key_reused"
        elsewhere = client.post("/labels/undo", json=ADA, headers=key)
        assert elsewhere.status_code == 409


def test_nothing_of_a_refused_write_is_stored(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        answers = [{"id": "n8", "class": "law"}, {"id": "n9", "class": "no such class"}]
        assert client.post("/labels", json=ADA | {"answers": answers}).status_code == 422
        nodes = [{"id": "x1", "text": "a"}, {"id": "n9", "text": "b"}]
        assert client.post("/nodes", json=ADA | {"nodes": nodes}).status_code == 409
        assert client.get("/labels").json()["total"] == 0
        assert client.get("/run").json()["added_nodes"] == 0


def test_texts_are_classified(one_run: Path, connect: Connect) -> None:
    with connect(one_run, text=50, texts=3) as client:
        body = {"texts": ["garlic and dough", "the judge"], "neighbours": [["n8", "zz"], []]}
        found = client.post("/classify", json=body).json()
        shapes.Classified.model_validate(found)
        assert [each["name"] for each in found["items"]] == ["cooking", "law"]
        assert found["items"][0]["unknown_neighbours"] == ["zz"]
        assert client.post("/classify", json={"texts": ["x"] * 4}).status_code == 413
        assert client.post("/classify", json={"texts": ["x" * 51]}).status_code == 413
        assert client.post("/classify", json={"texts": ["a"], "neighbours": []}).status_code == 422


def test_added_nodes_are_found_like_any_other(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        body = ADA | {
            "nodes": [{"id": "new/1", "text": "a recipe with garlic"}, {"id": "new2", "text": ""}],
            "edges": [
                {"source": "new2", "target": "new/1"},
                {"source": "new/1", "target": "n8", "weight": 2},
            ],
        }
        made = client.post("/nodes", json=body)
        assert made.status_code == 201
        shapes.Briefs.model_validate(made.json())
        names = [c["name"] for c in client.get("/classes").json()["items"]]
        silent = client.get("/nodes/new2").json()
        assert names[silent["class"]] == "cooking"  # its neighbour says so
        view = client.get("/view", params={"id": "new/1"}).json()
        shapes.NodeView.model_validate(view)
        assert {each["id"] for each in view["neighbours"]} == {"n8", "new2"}
        assert client.get("/view", params={"position": NODES + 1}).json()["id"] == "new2"
        assert client.get("/search?q=recipe").json()["items"][0]["id"] == "new/1"
        given = client.post("/labels", json=ADA | {"answers": [{"id": "new2", "kind": "none"}]})
        assert given.status_code == 201
        loose = ADA | {"nodes": [{"id": "q"}], "edges": [{"source": "q", "target": "nobody"}]}
        assert client.post("/nodes", json=loose).status_code == 422


def test_tokens_divide_reading_from_writing(
    one_run: Path, connect: Connect, tmp_path: Path
) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("# people\nread reader-0123456789abc\nwrite writer-0123456789abc\n")
    with connect(one_run, token_file=str(tokens)) as client:
        read = {"Authorization": "Bearer reader-0123456789abc"}
        write = {"Authorization": "Bearer writer-0123456789abc"}
        body = ADA | {"answers": [{"id": "n8", "class": "law"}]}
        assert client.get("/health").status_code == 200
        assert client.get("/run").status_code == 401
        assert client.get("/metrics").status_code == 401
        assert client.get("/run", headers={"Authorization": "Bearer x"}).status_code == 401
        assert client.get("/run", headers=read).json()["write"] is False
        assert client.post("/labels", json=body, headers=read).status_code == 403
        assert client.post("/classify", json={"texts": ["a"]}, headers=read).status_code == 200
        assert client.post("/labels", json=body, headers=write).status_code == 201


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://127.0.0.1.evil.example"},
    ],
)
def test_writes_from_other_pages_are_refused(
    one_run: Path, connect: Connect, headers: dict[str, str]
) -> None:
    with connect(one_run) as client:
        body = ADA | {"answers": [{"id": "n8", "class": "law"}]}
        found = client.post("/labels", json=body, headers=headers)
        assert (found.status_code, found.json()["error"]["code"]) == (403, "wrong_origin")
        own = {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "same-origin"}
        assert client.post("/labels", json=body, headers=own).status_code == 201


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example:8000", 403),
        ("evil.example", 403),
        ("127.0.0.1.evil.example", 403),
        ("", 403),
        ("localhost:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:8000", 200),
    ],
)
def test_a_name_that_was_led_here_is_not_answered(
    one_run: Path, connect: Connect, host: str, status: int
) -> None:
    with connect(one_run) as client:
        assert client.get("/run", headers={"Host": host}).status_code == status


def test_limits_on_body_and_rate(one_run: Path, connect: Connect) -> None:
    with connect(one_run, body=2000, rate=20) as client:
        big = client.post("/classify", json={"texts": ["x" * 3000]})
        assert (big.status_code, big.json()["error"]["code"]) == (413, "too_large")
        parts = (chunk for chunk in [b'{"texts": ["', b"x" * 3000, b'"]}'])  # no length is told
        assert client.post("/classify", content=parts).status_code == 413
        statuses = [client.get("/classes").status_code for _ in range(60)]
        assert 429 in statuses


def test_files_of_labels_may_be_longer(one_run: Path, connect: Connect) -> None:
    rows = b"id,class\n" + b"n8,law\n" * 400
    with connect(one_run, body=2000, file=3000) as client:
        found = client.post("/labels/import", content=rows)
        assert (found.status_code, found.json().get("imported")) == (200, 400)
        assert client.post("/labels/import", content=rows * 2).status_code == 413
        parts = (rows for _ in range(2))  # no length is told
        assert client.post("/labels/import", content=parts).status_code == 413


def test_nobody_is_sent_to_another_address(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        for path in ("/labels/", "/nodes//", "/run/"):
            found = client.get(path, follow_redirects=False)
            assert found.status_code == 404, path


def test_headers_keep_the_page_to_itself(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        for path in ("/run", "/nothing"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
        page = client.get("http://127.0.0.1/")
        assert page.status_code == 200
        assert "<html" in page.text


def test_paths_are_no_files(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static//etc/passwd"):
            assert client.get(f"http://127.0.0.1{path}").status_code == 404
        assert client.get("/nodes/..%2F..%2Frecord.json").status_code == 404


def test_requests_are_logged_as_lines_of_json(
    one_run: Path, connect: Connect, capsys: pytest.CaptureFixture[str]
) -> None:
    with connect(one_run) as client:
        client.get("/run", headers={"X-Request-Id": "mine-1"})
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    (line,) = [each for each in lines if each.get("request_id") == "mine-1"]
    assert (line["status"], line["path"]) == (200, "/api/v1/run")


def test_metrics_count_by_route(one_run: Path, connect: Connect) -> None:
    with connect(one_run) as client:
        for i in range(3):
            client.get(f"/nodes/n{i}x")
        text = client.get("/metrics").text
        assert 'method="GET",path="/nodes/{node_id:path}",status="404"} 3.0' in text

"""Requests of all kinds, made up from the OpenAPI document: none ends in an error of the server."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

schemathesis = pytest.importorskip("schemathesis")

JOBS = ("/api/v1/learn", "/api/v1/classes")  # start processes; tested by themselves
EXAMPLES = 25  # requests for each operation, of each kind


@pytest.fixture(scope="module")
def api(runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The application of a run."""
    from unseen.serve.app import application
    from unseen.serve.settings import Settings

    run = tmp_path_factory.mktemp("openapi") / "run"
    shutil.copytree(runs / "pooled", run)
    app: Any = application(Settings(str(run), rate=0))
    app.app.state.unseen.start()

    async def local(scope: Any, receive: Any, send: Any) -> None:
        """Ask by a name of this machine, as a client would."""
        if scope["type"] == "http":
            headers = [pair for pair in scope["headers"] if pair[0] != b"host"]
            scope = scope | {"headers": [*headers, (b"host", b"127.0.0.1")]}
        await app(scope, receive, send)

    yield local
    app.app.state.unseen.stop()


def test_a_generated_client_has_a_plain_name_for_every_request() -> None:
    from unseen.serve.app import application
    from unseen.serve.settings import Settings

    app: Any = application(Settings("no run yet"))
    paths = app.app.openapi()["paths"]
    names = [each["operationId"] for path in paths.values() for each in path.values()]
    assert len(set(names)) == len(names)
    assert {"post_classify", "get_nodes_node_id", "post_classes_preview"} <= set(names)


@pytest.mark.parametrize("mode", ["positive", "negative"])
def test_no_request_breaks_the_server(api: Any, mode: str) -> None:
    from schemathesis import GenerationMode, openapi

    document = openapi.from_asgi("/api/v1/openapi.json", api)
    asked: set[str] = set()
    for result in document.get_all_operations():
        operation: Any = result.ok()  # type: ignore[union-attr]
        if operation.method.upper() == "POST" and operation.path in JOBS:
            continue

        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=GenerationMode(mode)))
        def ask(case: Any) -> None:
            found = case.call()
            assert found.status_code < 500, (case.as_curl_command(), found.text)
            if found.status_code >= 400:
                assert set(found.json()) == {"error"}

        try:
            ask()
        except schemathesis.errors.InvalidSchema:  # nothing can be wrong about its input
            continue
        except Exception as error:
            if type(error).__name__ != "Unsatisfiable":
                raise
            continue
        asked.add(operation.label)
    assert {"POST /api/v1/classify", "GET /api/v1/nodes", "POST /api/v1/labels"} <= asked

"""The application: routes, page, and what happens when it starts and stops."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, HTMLResponse, Response

from unseen.serve import (
    class_routes,
    label_routes,
    node_routes,
    read_routes,
    shapes,
    version_routes,
)
from unseen.serve.errors import ApiError, install
from unseen.serve.guard import Guard
from unseen.serve.metrics import Metrics
from unseen.serve.reply import reply
from unseen.serve.settings import Settings
from unseen.serve.state import State
from unseen.serve.tokens import Tokens

STATIC = Path(__file__).parent / "static"
UNBUILT = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>unseen</title>
<h1>The page is not built</h1>
<p>The API works: see <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.</p>
<p>An installed wheel brings the page along. In a checkout, build it with <code>make page</code>,
then reload.</p>
</html>
"""
REFUSALS: dict[int | str, dict[str, object]] = {
    status: {"model": shapes.Error} for status in (400, 401, 403, 404, 409, 413, 422, 429, 503)
}
plain = APIRouter()


@plain.get("/health", response_model=shapes.Health)
async def health() -> Response:
    """Whether the process answers."""
    return reply({"status": "ok"})


@plain.get("/ready", response_model=shapes.Health)
async def ready(request: Request) -> Response:
    """Whether there is a version to answer with."""
    state: State = request.app.state.unseen
    return reply({"status": "ready", "version": state.held.served.number})


@plain.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
def metrics(request: Request) -> Response:
    """Numbers for Prometheus."""
    found: Metrics = request.app.state.metrics
    text, kind = found.text()
    return Response(text, headers={"content-type": kind})


class _Built(StaticFiles):
    """Files of the page; it may be built after the server was started."""

    async def check_config(self) -> None:
        if not STATIC.is_dir():
            raise ApiError(404, "the page is not built; build it with make page, then reload")
        await super().check_config()


def _called(route: APIRoute) -> str:
    """Return what a generated client calls a request: `post_classes_preview`, `get_nodes_id`."""
    path = re.findall(r"\w+", route.path_format.removeprefix("/api/v1"))
    return "_".join([min(route.methods or ()).lower(), *path])


def create() -> Guard:
    """Return the application of a worker, as the settings in the environment have it."""
    return application(Settings.from_environment())


def application(settings: Settings) -> Guard:
    """Return the application: everything behind the guard."""
    state, numbers = State(settings), Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(state.start)
        yield
        await run_in_threadpool(state.stop)

    app = FastAPI(
        title="unseen",
        version=version("unseen"),
        summary="Labels for classes that nobody has labelled, over HTTP.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redirect_slashes=False,
        redoc_url=None,
        lifespan=lifespan,
        generate_unique_id_function=_called,
        responses=REFUSALS,
    )
    app.state.unseen, app.state.metrics = state, numbers
    install(app)
    app.include_router(plain, prefix="/api/v1")
    for part in (class_routes, label_routes, node_routes, read_routes, version_routes):
        app.include_router(part.router, prefix="/api/v1")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        index = STATIC / "index.html"
        if index.is_file():
            return FileResponse(index, headers={"cache-control": "no-cache"})
        return HTMLResponse(UNBUILT)

    app.mount("/static", _Built(directory=STATIC, check_dir=False), name="static")
    return Guard(app, settings, Tokens.from_file(settings.token_file), numbers)

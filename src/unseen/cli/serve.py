"""`unseen serve`: a run behind a page and an HTTP API."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import progress_bar, say


def serve(
    run: Annotated[Path, typer.Argument(help="Folder of a run, or a link to one.")],
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but loopback needs --token-file.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.", min=0, max=65535)] = 8000,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help='File with lines "read TOKEN" and "write TOKEN".', show_default="none, on loopback"
        ),
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that answer.", min=1, max=64)] = 1,
    rate: Annotated[
        float, typer.Option(help="Requests per second from one address; 0: no limit.", min=0)
    ] = 1000.0,
) -> None:
    """Show a run in the browser, correct it and let it learn: a page and an HTTP API.

    Example: [bold]unseen serve run[/bold]

    Stop it with Ctrl-C. It needs the extra serve: pip install unseen\\[serve].
    """
    from unseen.core.errors import require

    for module in ("fastapi", "uvicorn", "httptools", "prometheus_client"):
        require(module, "serve", "unseen serve")
    from unseen.serve.server import prepare, serve_forever
    from unseen.serve.settings import Settings

    token = None if token_file is None else str(token_file)
    settings = Settings(str(run), host, port, token, workers, rate=rate)
    settings.check()
    with progress_bar(False) as progress:
        prepare(settings, progress)
    if token_file is not None and os.name == "posix" and token_file.stat().st_mode & 0o077:
        say(f"{token_file} can be read by other users of this machine: chmod 600 {token_file}")
    shown = f"[{host}]" if ":" in host else host
    say(f"unseen serves {run} at http://{shown}:{port}/ (API: /api/v1/openapi.json); stop: Ctrl-C")
    serve_forever(settings)

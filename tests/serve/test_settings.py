"""Where the server may listen, and what a token file holds."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from topic_graph import Call
from unseen.core.errors import InputError
from unseen.core.hosts import loopback
from unseen.io.atomic import write_json, write_manifest
from unseen.serve.settings import Settings
from unseen.serve.tokens import Tokens


@pytest.mark.parametrize("host", ["127.0.0.1", "127.3.2.1", "::1", "localhost"])
def test_loopback_needs_no_token(tmp_path: Path, host: str) -> None:
    assert loopback(host)
    Settings(str(tmp_path), host).check()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.2", "example.org", ""])
def test_any_other_address_does(tmp_path: Path, host: str) -> None:
    with pytest.raises(InputError, match="--token-file"):
        Settings(str(tmp_path), host).check()
    Settings(str(tmp_path), host, token_file="x").check()


def test_the_command_refuses_in_one_line(call: Call, tmp_path: Path) -> None:
    code, _, error = call("serve", str(tmp_path), "--host", "0.0.0.0")
    assert code == 2
    assert "needs tokens" in error
    code, _, error = call("serve", str(tmp_path / "nothing"))
    assert code == 2
    assert "no such folder" in error
    code, _, error = call("serve", str(tmp_path))
    assert code == 2
    assert "manifest.json" in error


@pytest.mark.parametrize("name", ["graph", "classes", "warnings", "choices", "created"])
def test_a_record_of_odd_kinds_is_refused(name: str, one_run: Path, call: Call) -> None:
    record = json.loads((one_run / "record.json").read_text(encoding="utf-8"))
    for odd in (None, {"labelled": "x"}, 5):
        write_json(one_run / "record.json", record | {name: odd})
        write_manifest(one_run)
        code, _, error = call("serve", one_run, "--port", "0")
        assert (code, "is not the record of a run" in error) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("# only a comment\n", "no token"),
        ("read short\n", "line 1"),
        ("admin 0123456789abcdef\n", "line 1"),
        ("read 0123456789abcdef\nwrite with spaces 0123456789\n", "line 2"),
    ],
)
def test_token_files_that_hold_none_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tokens"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        Tokens.from_file(str(path))


def test_a_token_file_that_others_can_read_is_told_of(
    one_run: Path, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unseen.serve.server.serve_forever", lambda settings: None)
    path = tmp_path / "tokens"
    path.write_text("write 0123456789abcdef\n")
    for mode, told in ((0o644, True), (0o600, False)):
        path.chmod(mode)
        code, out, error = call("serve", one_run, "--token-file", path)
        assert (code, "chmod 600" in out + error) == (0, told)
        assert "0123456789abcdef" not in out + error


def test_a_token_file_is_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "tokens")
    for path in (str(tmp_path / "tokens"), "/dev/zero", str(tmp_path)):
        with pytest.raises(InputError, match="expected a file"):
            Tokens.from_file(path)


def test_rights_follow_the_token() -> None:
    tokens = Tokens((b"r" * 16,), (b"w" * 16,))
    assert tokens.rights(b"Bearer " + b"r" * 16) == (True, False)
    assert tokens.rights(b"bearer " + b"w" * 16) == (True, True)
    assert tokens.rights(b"Basic " + b"w" * 16) == (False, False)
    assert tokens.rights(None) == (False, False)
    assert tokens.rights("Bearer ü".encode()) == (False, False)
    assert Tokens().rights(None) == (True, True)


def test_settings_reach_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNSEEN_SERVE", raising=False)
    settings = Settings("a", workers=3, rate=7.0)
    monkeypatch.setenv("UNSEEN_SERVE", "")
    settings.to_environment()
    assert Settings.from_environment() == settings

"""Drafts of class texts, against a server process: what is asked, kept, refused and never said."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from topic_graph import Call
from unseen.core.errors import InputError
from unseen.describe import endpoint as module
from unseen.describe.endpoint import AnswerError, Endpoint
from unseen.describe.prompt import read_answer

HERE = Path(__file__).parent
KEY = "sk-very-secret-0123456789"


@dataclass(frozen=True)
class Server:
    url: str
    log: Path

    def asked(self, model: str) -> list[dict[str, Any]]:
        """Return the requests for a model, in order."""
        lines = self.log.read_text("utf-8").splitlines() if self.log.exists() else []
        return [found for line in lines if (found := json.loads(line))["model"] == model]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    log = tmp_path_factory.mktemp("server") / "log.jsonl"
    command = [sys.executable, str(HERE / "canned_server.py"), str(log)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Server(f"http://127.0.0.1:{int(process.stdout.readline())}/v1", log)
        process.terminate()


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNSEEN_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UNSEEN_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def classes(tmp_path: Path) -> Path:
    path = tmp_path / "classes.csv"
    path.write_text("name,description,shelf\nKitchen,Pots.,3\nMusic,,7\n", "utf-8")
    return path


def cells(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def describing(server: Server, model: str, classes: Path, *more: object) -> tuple[object, ...]:
    out = classes.with_name("out.csv")
    place = ("--endpoint", server.url, "--model", model)
    return ("describe", "--classes", classes, "--out", out, *place, *more)


def test_texts_come_with_their_source_and_a_diff(server: Server, classes: Path, call: Call) -> None:
    code, out, err = call(*describing(server, "good", classes))
    assert (code, err) == (0, "")
    assert "  - Pots.\n  + All about Kitchen. Typical terms: kitchen, thing.\n" in out
    assert "  - (no text)\n  + All about Music." in out
    assert "2 of 2 described" in out
    kitchen, music = cells(classes.with_name("out.csv"))
    assert list(kitchen) == ["name", "description", "shelf", "prompt", "model", "date", "note"]
    assert (kitchen["shelf"], kitchen["model"], music["note"]) == ("3", "good", "")
    assert kitchen["description"] == "All about Kitchen. Typical terms: kitchen, thing."
    assert '"Kitchen"' in kitchen["prompt"]
    assert kitchen["date"].startswith("20")
    requests = server.asked("good")
    assert [r["class"] for r in requests] == ["Kitchen", "Music"]
    assert requests[0]["path"] == "/v1/chat/completions"
    assert requests[0]["key"] == f"Bearer {KEY}"


def test_what_was_answered_is_not_asked_again(server: Server, classes: Path, call: Call) -> None:
    call(*describing(server, "once", classes))
    first = cells(classes.with_name("out.csv"))
    call(*describing(server, "once", classes))
    assert len(server.asked("once")) == 2
    assert cells(classes.with_name("out.csv")) == first


def test_a_killed_run_goes_on_where_it_stopped(server: Server, classes: Path) -> None:
    command = [sys.executable, "-m", "unseen.cli", *map(str, describing(server, "hangs", classes))]
    with subprocess.Popen(command, env=dict(os.environ)) as process:
        until = time.monotonic() + 60
        while len(server.asked("hangs")) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        process.kill()
    assert not classes.with_name("out.csv").exists()
    kept = Endpoint(server.url, "hangs", KEY, timeout=0.2, sleep=lambda seconds: None)
    from unseen.describe.draft import describe

    kitchen, music = describe(classes, classes.with_name("out.csv"), kept)
    assert kitchen.after.startswith("All about Kitchen.")
    assert "no answer within 0.2 s" in music.note
    assert [r["class"] for r in server.asked("hangs")].count("Kitchen") == 1


@pytest.mark.parametrize("model", ["busy", "slow", "malformed"])
def test_a_second_try_helps(server: Server, classes: Path, model: str) -> None:
    from unseen.describe.draft import describe

    waits: list[float] = []
    patient = Endpoint(server.url, model, KEY, timeout=0.5, sleep=waits.append)
    drafts = describe(classes, classes.with_name("out.csv"), patient)
    assert [d.note for d in drafts] == ["", ""]
    assert len(server.asked(model)) == 4
    assert waits == {"busy": [0.05, 0.05], "slow": [1.0, 1.0], "malformed": []}[model]


@pytest.mark.parametrize(
    ("model", "note"),
    [
        ("prose", "expected JSON with a description, the answer begins 'I am sorry"),
        ("broken", "the answer is not one of OpenAI's protocol"),
    ],
)
def test_a_class_that_is_not_described_keeps_its_text(
    server: Server, classes: Path, call: Call, model: str, note: str
) -> None:
    code, out, _ = call(*describing(server, model, classes))
    assert code == 1
    assert note in out
    kitchen, _ = cells(classes.with_name("out.csv"))
    assert kitchen["description"] == "Pots."
    assert kitchen["note"].startswith(note)
    assert kitchen["model"] == ""


def test_a_refusal_is_noted_and_the_others_are_described(
    server: Server, classes: Path, call: Call
) -> None:
    code, out, _ = call(*describing(server, "refuses", classes))
    kitchen, music = cells(classes.with_name("out.csv"))
    assert (code, music["note"]) == (1, "the model refused to answer")
    assert "1 of 2 described" in out
    assert kitchen["description"].startswith("All about Kitchen.")


def test_tries_end(server: Server) -> None:
    waits: list[float] = []
    patient = Endpoint(server.url, "always-busy", KEY, sleep=waits.append)
    with pytest.raises(AnswerError, match=r"answered 503 \(overloaded, your key is \[key\]\), 5"):
        patient.ask('Describe the class "x"')
    assert waits == [1, 2, 4, 8]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("forbidden", "answered 401; set UNSEEN_API_KEY to a key that it accepts"),
        ("moved", "answered 307, a redirect, which is not followed; name its goal"),
        ("unknown", "answered 404 (no such model); check the address (up to /v1) and --model"),
    ],
)
def test_what_cannot_get_better_ends_the_command(
    server: Server, classes: Path, call: Call, model: str, message: str
) -> None:
    code, out, err = call(*describing(server, model, classes))
    assert (code, out) == (2, "")
    assert err.strip().endswith(message)
    assert not classes.with_name("out.csv").exists()


def test_the_key_is_in_no_file_and_no_output(
    server: Server, classes: Path, call: Call, tmp_path: Path
) -> None:
    said = ""
    for model in ("good", "forbidden", "refuses", "broken"):
        said += "".join(map(str, call(*describing(server, model, classes))))
    said += repr(Endpoint(server.url, "good", KEY))
    assert KEY not in said
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) > 3
    assert not [path for path in files if KEY.encode() in path.read_bytes()]


def test_the_sample_is_shown_and_can_be_drawn_again(
    server: Server, classes: Path, call: Call
) -> None:
    nodes = classes.with_name("nodes.csv")
    rows = "".join(f"{i},text number {i}\n" for i in range(50))
    nodes.write_text(f"id,text\n{rows}", "utf-8")
    call(*describing(server, "sample", classes, "--nodes", nodes, "--sample", 3))
    call(*describing(server, "sample", classes, "--nodes", nodes, "--sample", 3))
    requests = server.asked("sample")
    assert len(requests) == 2  # the second time both prompts were the same
    assert requests[0]["prompt"].count("text number") == 3


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("file:///etc/passwd", "only http and https"),
        ("ftp://host/v1", "only http and https"),
        ("127.0.0.1:80", "expected an address"),
        ("http://user:secret@127.0.0.1/v1", "holds a user name"),
        ("http://example.org/v1", "over plain http"),
        ("http://127.0.0.1:99999999/v1", "is no address"),
    ],
)
def test_addresses_that_are_refused(url: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        Endpoint(url, "m", KEY)
    assert "secret" not in str(error.value)


def test_nobody_there(classes: Path, call: Call) -> None:
    code, _, err = call(*describing(Server("http://127.0.0.1:9/v1", classes), "m", classes))
    assert code == 2
    assert "127.0.0.1:9 cannot be reached" in err


def test_waiting_as_asked() -> None:
    assert module._retry_after("7", 1.0) == 7
    assert module._retry_after(None, 4.0) == 4
    assert module._retry_after("Mon, 01 Jan 2001 00:00:00 GMT", 4.0) == 0
    assert module._retry_after("Tue, 01 Jan 2199 00:00:00 GMT", 4.0) > 1e6  # capped where it waits
    assert module._retry_after("soon", 4.0) == 4


@pytest.mark.parametrize(
    "text", ["", "{", '{"terms": []}', '{"description": 3}', '{"description": " "}', "[" * 10**5]
)
def test_malformed_answers_are_errors(text: str) -> None:
    with pytest.raises(AnswerError):
        read_answer(text)


def test_no_draft_is_a_formula_or_runs_over_lines() -> None:
    found = read_answer('{"description": "=cmd()\\nnext\\u0000", "terms": ["+a", 5, "a"]}')
    assert found == "cmd() next Typical terms: a."


def test_without_an_endpoint_there_are_questions(classes: Path, call: Call) -> None:
    out = classes.with_name("fill.csv")
    code, said, _ = call("describe", "--classes", classes, "--out", out)
    assert (code, "2 questions" in said) == (0, True)
    kitchen, music = cells(out)
    assert list(kitchen) == ["name", "description", "shelf", "question"]
    assert (kitchen["description"], music["description"]) == ("Pots.", "")
    assert "'Music'" in music["question"]
    assert "not in: Kitchen?" in music["question"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--out", "classes.csv"), "holds the classes themselves"),
        (("--out", "out.parquet"), "ends in .csv"),
        (("--out", "out.csv", "--model", "m"), "with --endpoint"),
        (("--out", "out.csv", "--endpoint", "http://127.0.0.1:9/v1"), "needs --model"),
        (("--out", "nowhere/out.csv"), "there is no folder"),
    ],
)
def test_mistakes_are_told(
    classes: Path,
    call: Call,
    words: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(classes.parent)
    code, _, err = call("describe", "--classes", "classes.csv", *words)
    assert code == 2
    assert message in err

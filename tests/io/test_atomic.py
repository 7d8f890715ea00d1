"""What is replaced, what is left alone, and what a stop leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from unseen.core.errors import InputError, WriteError
from unseen.io import workspace
from unseen.io.atomic import check_file, check_folder, check_place, in_place, recover, replacing
from unseen.io.files import write_text
from unseen.io.saved import MANIFEST, Saved, read_saved

pytestmark = pytest.mark.skipif(os.name == "nt", reason="locks and signals are tested on POSIX")


def builds(text: str) -> Callable[[Path], None]:
    def build(new: Path) -> None:
        (new / "part").mkdir()
        write_text(new / "part" / "a.txt", text)

    return build


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return in_place(tmp_path / "run", builds("old"))


def text(run: Path) -> str:
    check_folder(run)
    return (run / "part" / "a.txt").read_text(encoding="utf-8")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def elsewhere(code: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a program that may be killed."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
    )


# What is left alone.


@pytest.mark.parametrize("place", ["mine.txt", "part/mine.txt", "mine/deep/er.txt", "part/link"])
def test_a_run_with_something_of_the_user_in_it_is_not_replaced(place: str, run: Path) -> None:
    mine = run / place
    mine.parent.mkdir(parents=True, exist_ok=True)
    if mine.name == "link":
        mine.symlink_to(run.parent)
    else:
        mine.write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match=r"holds what unseen did not write .*move that away"):
        in_place(run, builds("new"))
    assert mine.exists()
    assert text(run) == "old"


def test_a_run_in_which_the_user_changed_a_file_is_not_replaced(run: Path) -> None:
    (run / "part" / "a.txt").write_text("corrected by hand", encoding="utf-8")
    with pytest.raises(InputError, match=r"or what was changed since \('part/a.txt'\)"):
        in_place(run, builds("new"))
    assert (run / "part" / "a.txt").read_text(encoding="utf-8") == "corrected by hand"


@pytest.mark.parametrize(
    "name",
    [
        ".run.2024.backup",
        ".run.99999.old",
        ".run.3999999.abc",
        ".run.0123456789abcdef.unseen",  # as ours is called, but not marked as ours
        ".run.x.unseen",
    ],
)
def test_folders_that_only_look_like_litter_stay(name: str, run: Path) -> None:
    (run.parent / name).mkdir()
    (run.parent / name / "lock").write_text("the key of my boat", encoding="utf-8")
    in_place(run, builds("new"))
    assert (run.parent / name / "lock").read_text(encoding="utf-8") == "the key of my boat"


@pytest.mark.parametrize("place", ["part", "more", "part/more"])
def test_nothing_is_written_into_a_run(place: str, run: Path) -> None:
    with pytest.raises(InputError, match=r"lies in .*run, which unseen wrote as a whole"):
        in_place(run / place, builds("new"))
    with pytest.raises(InputError, match=r"exists|lies in|does not exist"):
        check_file(run / place)
    assert text(run) == "old"


def test_a_file_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="exists, and is not overwritten"):
        check_file(tmp_path / "x.csv")


def test_the_folder_around_the_current_one_is_not_replaced(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(run / "part")
    with pytest.raises(InputError, match="is the current folder"):
        check_place(run)


def test_links_in_a_circle_are_no_place(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("a")
    for place, read in ((tmp_path / "a", None), (tmp_path / "run", tmp_path / "a")):
        with pytest.raises(InputError, match="leads nowhere"):
            check_place(place, read)


@pytest.mark.parametrize("mask", [0o077, 0o027, 0o022])
def test_permissions_follow_the_umask(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        run = in_place(tmp_path / "run", builds("x"))
    finally:
        os.umask(before)
    assert all(not path.stat().st_mode & mask for path in (run, *run.rglob("*")))


# Stops.


@pytest.mark.parametrize("error", [OSError("no"), MemoryError(), KeyboardInterrupt(), ValueError()])
def test_a_failure_leaves_the_old_run_and_no_litter(error: BaseException, tmp_path: Path) -> None:
    run = in_place(tmp_path / "run", builds("old"))

    def fail(new: Path) -> None:
        builds("half")(new)
        raise error

    for folder in (run, tmp_path / "a" / "b"):
        with pytest.raises((WriteError, KeyboardInterrupt, ValueError)):
            in_place(folder, fail)
    with pytest.raises((WriteError, KeyboardInterrupt, ValueError)), replacing(tmp_path / "f") as n:
        fail(n.with_name("d"))
    assert text(run) == "old"
    assert names(tmp_path) == {"run"}


KILLED = """
import os, sys
from pathlib import Path
from unseen.io.atomic import in_place, replacing
def build(new):
    (new / "half").write_text("half")
    os.kill(os.getpid(), 9)
if sys.argv[2] == "folder":
    in_place(Path(sys.argv[1]), build)
with replacing(Path(sys.argv[1])) as new:
    new.mkdir()
    build(new)
"""


@pytest.mark.parametrize("what", ["folder", "file"])
def test_what_a_killed_writer_left_is_removed_by_the_next(what: str, run: Path) -> None:
    elsewhere(KILLED, run, what)
    assert len(names(run.parent)) == 2
    assert text(run) == "old"
    in_place(run, builds("new"))
    assert names(run.parent) == {"run"}


LIVING = """
import os, sys
from pathlib import Path
from unseen.io.atomic import in_place
os.getpid = lambda: 3_999_999  # as in another container: no such process here
def build(new):
    print("building", flush=True)
    sys.stdin.readline()
    (new / "b.txt").write_text("later")
in_place(Path(sys.argv[1]), build)
"""


def test_a_writer_of_another_container_is_not_swept(run: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", LIVING, str(run)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdout is not None
    assert writer.stdout.readline() == "building\n"
    in_place(run, builds("new"))
    assert text(run) == "new"
    writer.communicate("go on\n")
    assert writer.returncode == 0
    check_folder(run)
    assert (run / "b.txt").read_text(encoding="utf-8") == "later"
    assert names(run.parent) == {"run"}


BETWEEN = """
import os, sys
from pathlib import Path
from unseen.io import workspace
from unseen.io.atomic import in_place
workspace._exchanged = lambda new, old: False  # macOS, Windows, some file systems
rename = Path.rename
def die(self, target):
    if self.name == "new":
        os.kill(os.getpid(), 9)
    return rename(self, target)
Path.rename = die
in_place(Path(sys.argv[1]), lambda new: (new / "a").write_text("new"))
"""


@pytest.mark.parametrize("who", ["reader", "writer", "recover"])
def test_a_kill_between_two_renames_loses_nothing(who: str, run: Path) -> None:
    elsewhere(BETWEEN, run)
    assert not run.exists()
    if who == "reader":
        assert read_saved(run, lambda saved: saved.bytes("part/a.txt")) == b"old"
    elif who == "writer":
        with pytest.raises(ZeroDivisionError):
            in_place(run, lambda _: 1 / 0)  # type: ignore[arg-type]
    else:
        recover(run)
    assert text(run) == "old"
    assert names(run.parent) == {"run"}


def test_where_folders_cannot_be_exchanged(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "_exchanged", lambda new, old: False)
    in_place(run, builds("new"))
    assert text(run) == "new"
    assert names(run.parent) == {"run"}


def test_an_interrupt_waits_for_the_step_that_is_one(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = workspace._exchanged

    def interrupted(new: Path, old: Path) -> bool:
        signal.raise_signal(signal.SIGINT)
        return exchange(new, old)

    monkeypatch.setattr(workspace, "_exchanged", interrupted)
    with pytest.raises(KeyboardInterrupt):
        in_place(run, builds("new"))
    assert text(run) == "new"
    assert names(run.parent) == {"run"}


def test_a_run_that_is_replaced_while_it_is_read_is_read_again(run: Path) -> None:
    times = []

    def read(saved: Saved) -> bytes:
        times.append(saved)
        if len(times) == 1:
            in_place(run, builds("new"))
        return saved.bytes("part/a.txt")

    assert read_saved(run, read) == b"new"
    assert len(times) == 2


def test_a_manifest_is_written_last(run: Path) -> None:
    assert (run / MANIFEST).stat().st_mtime_ns >= (run / "part" / "a.txt").stat().st_mtime_ns

"""Parts are believed as they were written, and those of others are left alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unseen.core.errors import InputError
from unseen.io.digests import DIGESTS, Digests


def test_a_part_is_whole_until_it_is_changed(tmp_path: Path) -> None:
    part = tmp_path / "part-0"
    assert not Digests(tmp_path).whole(part)
    with Digests(tmp_path).writing(part) as new:
        new.write_bytes(b"abc")
    assert Digests(tmp_path).whole(part)
    part.write_bytes(b"abd")
    assert not Digests(tmp_path).whole(part)
    with Digests(tmp_path).writing(part) as new:
        new.write_bytes(b"abc")
    assert Digests(tmp_path).whole(part)


def test_what_is_in_place_is_listed_even_after_a_stop(tmp_path: Path) -> None:

    def stopped() -> None:
        with Digests(tmp_path).writing(tmp_path / "part-0") as new:
            new.write_bytes(b"abc")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped()
    assert list(tmp_path.iterdir()) == []
    with Digests(tmp_path).writing(tmp_path / "part-0") as new:
        new.write_bytes(b"abc")
    assert set(json.loads((tmp_path / DIGESTS).read_text())) == {"part-0"}


def test_a_part_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "part-0").write_bytes(b"mine")
    with pytest.raises(InputError, match="part-0: exists and unseen did not write it"):
        Digests(tmp_path).whole(tmp_path / "part-0")
    assert (tmp_path / "part-0").read_bytes() == b"mine"

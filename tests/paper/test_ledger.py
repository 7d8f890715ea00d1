"""The ledger: what is finished stays finished, whatever is killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from unseen.core.errors import InputError
from unseen.paper import ledger as ledger_module
from unseen.paper.ledger import FILE, Ledger
from unseen.paper.trial import Trial

ONE = Trial("cora", "I", "dgpn", {"epochs": 3, "laziness": 0.7}, seed=1)
TWO = Trial("cora", "I", "dgpn", {"epochs": 3, "laziness": 0.7}, seed=2)
OUTCOME = {"accuracy": 100 / 3, "macro": 1.0}


def test_an_outcome_is_found_again_in_another_process(tmp_path: Path) -> None:
    Ledger(tmp_path).add(ONE, OUTCOME)
    again = Ledger(tmp_path)
    same = Trial("cora", "I", "dgpn", {"laziness": 0.7, "epochs": 3}, seed=1)  # another order
    assert again[same] == OUTCOME
    assert ONE in again
    assert TWO not in again
    assert len(again) == 1


def test_versions_stand_beside_an_outcome(tmp_path: Path) -> None:
    Ledger(tmp_path).add(ONE, OUTCOME)
    text = (tmp_path / FILE).read_text("utf-8")
    assert '"torch": ' in text
    assert '"unseen": ' in text


def test_an_extra_that_is_not_installed_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "PACKAGES", ("numpy", "no-such-package"))
    found = ledger_module.versions.__wrapped__()
    assert "numpy" in found
    assert "no-such-package" not in found


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_a_line_cut_off_by_a_kill_is_run_again(tmp_path: Path, cut: int) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(ONE, OUTCOME)
    ledger.add(TWO, OUTCOME)
    path = tmp_path / FILE
    path.write_bytes(path.read_bytes()[:-cut])
    again = Ledger(tmp_path)
    assert ONE in again
    assert TWO not in again
    again.add(TWO, OUTCOME)
    assert TWO in Ledger(tmp_path)
    assert ONE in Ledger(tmp_path)


def test_a_damaged_line_in_the_middle_is_named(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path)
    ledger.add(ONE, OUTCOME)
    ledger.add(TWO, OUTCOME)
    path = tmp_path / FILE
    path.write_bytes(b"what\n" + path.read_bytes())
    with pytest.raises(InputError, match=r"line 1 is not a finished trial .* remove the line"):
        Ledger(tmp_path)


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="choose another with --out"):
        Ledger(tmp_path / "file" / "below")

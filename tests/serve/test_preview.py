"""What is previewed is what is kept, and what `add_classes` says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from unseen.core.errors import InputError
from unseen.serve.editing import edit_classes
from unseen.serve.preview import preview
from unseen.serve.versions import Versions
from unseen.serve.work import Job, work

MUSIC = {"name": "sauces", "description": "About sauce, garlic and onion.", "replaces": None}


def counts(found: dict[str, Any]) -> dict[str, int]:
    """Return the size of each class after."""
    return {each["name"]: each["after"] for each in found["classes"]}


def test_a_new_class_takes_what_add_classes_gives_it(run: Path) -> None:
    found = preview(Versions(run).load(1), [MUSIC], [])
    classifier = unseen.load(run)
    classifier.add_classes(unseen.Classes(["sauces"], [MUSIC["description"]]))
    label = classifier.prediction_.label
    for c, name in enumerate(classifier.classes_):
        assert abs(counts(found)[name] - int((label == c).sum())) <= 1  # ties
    assert found["changed"] == sum(each["nodes"] for each in found["moved"])
    (taken,) = found["taken"]
    assert taken["nodes"] == counts(found)["sauces"]
    assert all(each["from_name"] != "sauces" for each in taken["surest"])


@pytest.mark.parametrize(
    ("changes", "remove"),
    [
        ([MUSIC], []),
        ([{"name": "food", "description": "Garlic, oven, dough.", "replaces": 1}], []),
        ([{"name": "food", "description": "Garlic, oven, dough.", "replaces": 1}, MUSIC], []),
    ],
)
def test_what_is_kept_is_what_was_previewed(
    run: Path, changes: list[dict[str, Any]], remove: list[int]
) -> None:
    versions = Versions(run)
    found = preview(versions.load(1), changes, remove)
    with versions.store.write() as db:
        db.execute(
            "INSERT INTO jobs (kind, state, person, started, request) "
            "VALUES ('classes', 'running', 'Ada', '', '{}')"
        )
    asked = {"changes": changes, "remove": remove, "version": 1}
    work(Job(versions, 1), "classes", "Ada", asked)
    kept = versions.load(versions.current)
    assert kept.number == 2
    for c, name in enumerate(kept.names):
        assert abs(counts(found)[name] - len(kept.of_class(c))) <= 1
    assert (kept.codes[:6] >= 0).all()  # labels moved along with their classes
    again = unseen.load(versions.folder(2))
    assert list(again.classes_) == kept.names


def test_a_class_described_as_before_changes_nothing(run: Path) -> None:
    served = Versions(run).load(1)
    text = served.meta["descriptions"][2]
    edit = [{"name": "law", "description": text, "replaces": 2}]
    assert preview(served, edit, [])["changed"] == 0


def test_an_edited_class_keeps_what_it_learned_and_moves_with_its_text(run: Path) -> None:
    served = Versions(run).load(1)
    edit = [{"name": "law", "description": "About court and judge.", "replaces": 2}]
    found = preview(served, edit, [])
    assert counts(found)["law"] > 0.8 * len(served.of_class(2))
    (entry,) = [each for each in found["classes"] if each["edited"]]
    assert (entry["before"], entry["new"]) == (len(served.of_class(2)), False)


def test_a_class_without_labels_can_go(runs: Path, tmp_path: Path) -> None:
    served = Versions(runs / "pooled").load(1)
    free = [c for c in range(4) if not (served.codes == c).any()]
    if not free:
        with pytest.raises(InputError, match="has labelled nodes"):
            preview(served, [], [0])
        return
    found = preview(served, [], free[:1])
    assert [each["removed"] for each in found["classes"]].count(True) == 1
    assert sum(each["after"] or 0 for each in found["classes"]) == served.nodes - 6


def test_positions_follow_classes() -> None:
    before = unseen.Classes(["a", "b", "c"])
    change = [{"name": "B", "description": "x", "replaces": 1}]
    change.append({"name": "d", "description": None, "replaces": None})
    edit = edit_classes(before, change, [2], np.array([-1, 0, 1]))
    assert list(edit.classes.names) == ["a", "B", "d"]
    assert edit.place.tolist() == [0, 1, -1]
    assert edit.origin.tolist() == [0, 1, -1]
    assert (edit.edited.tolist(), edit.fresh.tolist()) == ([1], [2])


@pytest.mark.parametrize(
    ("changes", "remove", "said"),
    [
        ([], [], "are empty"),
        ([{"name": "a", "description": None, "replaces": None}], [], "more than once"),
        ([{"name": "x", "description": None, "replaces": 9}], [], "no class 9"),
        ([{"name": "x", "description": None, "replaces": 1}], [1], "twice"),
        ([], [0], "labelled nodes"),
        ([], [1, 2], "at least two"),
    ],
)
def test_what_cannot_be_done_is_refused(
    changes: list[dict[str, Any]], remove: list[int], said: str
) -> None:
    before = unseen.Classes(["a", "b", "c"])
    with pytest.raises(InputError, match=said):
        edit_classes(before, changes, remove, np.array([-1, 0]))

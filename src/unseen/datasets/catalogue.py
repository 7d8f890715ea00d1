"""What is known beforehand about each published data set: its counts, its checksum, its quirks."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from unseen.core.labels import Split


@dataclass(frozen=True)
class Entry:
    """One published data set; `checksum` is that of `Layout.checksum`, whatever the source."""

    name: str
    about: str
    class_counts: tuple[int, ...]  # nodes of each class, by the class ids of the paper's appendix
    lines: int  # citations as published, duplicates and self-citations included
    features: int
    checksum: str
    splits: Mapping[str, Split] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ("official",)
    standard: bool = False  # whether planetoid split its nodes into train, validation and test

    @property
    def nodes(self) -> int:
        """Number of nodes; every one has a class."""
        return sum(self.class_counts)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Names of the classes, in the order of their ids."""
        return tuple(descriptions()[self.name])


@cache
def descriptions() -> dict[str, dict[str, str]]:
    """Return what each class of each set is about; classes stand in the order of their ids."""
    text = files("unseen.datasets").joinpath("descriptions.toml").read_text("utf-8")
    return {
        name: {label: " ".join(about.split()) for label, about in classes.items()}
        for name, classes in tomllib.loads(text).items()
    }


_UNNAMED = "The features are words, 0 or 1, but which word a column stands for was never published."

_ENTRIES = (
    Entry(
        name="cora",
        about="2,708 papers on machine learning, 7 classes, words without names",
        class_counts=(818, 180, 217, 426, 351, 418, 298),
        lines=5_429,
        features=1_433,
        checksum="fac34176a38298796757224c7187dcaef3d2bdb957ad121b40e7401710b5f908",
        splits={
            "I": Split(seen=(0, 1, 2), validation=(), unseen=(3, 4, 5, 6)),
            "II": Split(seen=(0, 1), validation=(2, 3), unseen=(4, 5, 6)),
        },
        notes=(
            _UNNAMED,
            "151 citations go both ways: 5,429 lines are 5,278 edges.",
            "The standard split is planetoid's, whose papers have no ids: each was found by class, "
            "words and edges. 25 papers have a twin alike in all of these, which may stand for it; "
            "none of them trains.",
        ),
        standard=True,
    ),
    Entry(
        name="citeseer",
        about="3,312 papers on computer science, 6 classes, words without names",
        class_counts=(596, 668, 701, 249, 508, 590),
        lines=4_732,
        features=3_703,
        checksum="5a1c8be87fbbf60c92ed7191e6b2980833228504f656362b00cd43a8660d7142",
        splits={
            "I": Split(seen=(0, 1), validation=(), unseen=(2, 3, 4, 5)),
            "II": Split(seen=(0, 1), validation=(2, 3), unseen=(4, 5)),
        },
        notes=(
            _UNNAMED,
            "3,312 papers, although the paper's tables say 3,327: 15 more are cited, but have "
            "neither words nor a class.",
            "124 lines are papers that cite themselves; 48 papers have no other edge.",
            "A fetched copy numbers the papers as planetoid does, the authors' files as LINQS.",
        ),
        variants=("official", "clean"),
        standard=True,
    ),
    Entry(
        name="c-m10m",
        about="4,464 papers of six sciences, 6 classes, titles and their words",
        class_counts=(825, 852, 600, 730, 674, 783),
        lines=5_804,
        features=1_927,
        checksum="110901275cb0cdd94f9d9da3f30140bb8f8aa9808800dba513289e5ddfcb07b9",
        splits={
            "I": Split(seen=(0, 1, 2), validation=(), unseen=(3, 4, 5)),
            "II": Split(seen=(0, 1), validation=(2, 3), unseen=(4, 5)),
        },
        notes=(
            "The features are the words of the titles, 0 or 1; the paper's 128 Bert-Tiny numbers a "
            "node were not to be had.",
            "Titles are noisy ('Abstract', journal headers); 877 papers share theirs with another.",
            "165 lines are papers that cite themselves; 62 papers have no other edge.",
        ),
    ),
    Entry(
        name="pubmed",
        about="19,717 papers on diabetes, 3 classes, TF-IDF of words without names",
        class_counts=(4_103, 7_739, 7_875),
        lines=44_338,
        features=500,
        checksum="2655d6fea055215a6f9eb8e9f4c8976ae2b73432bb0b52991300faefea8e5023",
        notes=(
            "The features are TF-IDF weights; which word a column stands for is not part of them.",
            "The names of the classes follow the order of LINQS; that planetoid's columns keep "
            "that order could not be proved.",
            "The paper holds out no classes here: there is no zero-shot split.",
        ),
        standard=True,
    ),
)

CATALOGUE: Mapping[str, Entry] = {entry.name: entry for entry in _ENTRIES}

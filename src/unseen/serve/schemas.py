"""Shapes of requests: what may be asked, and how much of it at once."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from unseen.serve.errors import ApiError

NAME, DESCRIPTION, ID = 200, 5_000, 2_000  # characters, at most
ANSWERS, NODES, EDGES, CHANGES = 1_000, 1_000, 10_000, 20  # of one request


def _plain(text: str) -> str:
    """Refuse control characters, and halves of surrogate pairs, which no file can hold."""
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text):
        raise ValueError("has a control character or half of a character; leave it out")
    if not text.strip():
        raise ValueError("is blank")
    return text


def plain(text: str, where: str) -> str:
    """Return a text of one line, or refuse it."""
    try:
        return _plain(text)
    except ValueError as error:
        raise ApiError(422, f"{where}: {error}", where) from error


def _whole(text: str) -> str:
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("has half of a character (a lone surrogate); leave it out")
    return text


Person = Annotated[
    str, Field(min_length=1, max_length=64, examples=["Ada"]), AfterValidator(_plain)
]
NodeId = Annotated[str, Field(min_length=1, max_length=ID), AfterValidator(_plain)]
ClassName = Annotated[str, Field(min_length=1, max_length=NAME), AfterValidator(_plain)]
Text = Annotated[str, AfterValidator(_whole)]


class Closed(BaseModel):
    """A request: unknown fields are mistakes."""

    model_config = ConfigDict(extra="forbid")


class ClassChange(Closed):
    """A class to add or, where it replaces one, to edit."""

    name: ClassName
    description: Annotated[
        str | None,
        Field(max_length=DESCRIPTION),
        AfterValidator(lambda text: None if text is None else _whole(text)),
    ] = None
    replaces: Annotated[int | None, Field(ge=0, le=100_000)] = None


class ClassChanges(Closed):
    changes: Annotated[list[ClassChange], Field(max_length=CHANGES)] = []
    remove: Annotated[list[Annotated[int, Field(ge=0, le=100_000)]], Field(max_length=CHANGES)] = []


class KeepClasses(ClassChanges):
    person: Person


class Answer(Closed):
    """What a person says of a node: a class, none of these, or nothing."""

    id: NodeId
    kind: Literal["class", "none", "skip"] = "class"
    klass: Annotated[ClassName | None, Field(alias="class")] = None
    queue: Literal["errors", "teach", "view"] | None = None


class GiveLabels(Closed):
    person: Person
    answers: Annotated[list[Answer], Field(min_length=1, max_length=ANSWERS)]


class Undo(Closed):
    person: Person
    answer_id: Annotated[int | None, Field(ge=1, le=2**53)] = None


class Someone(Closed):
    person: Person


class Classify(Closed):
    """Texts to answer; for each, perhaps, ids of nodes that it is linked with."""

    texts: Annotated[list[Text], Field(min_length=1, max_length=1000)]
    neighbours: Annotated[
        list[Annotated[list[NodeId], Field(max_length=1000)]] | None, Field(max_length=1000)
    ] = None


class NewNode(Closed):
    id: NodeId
    text: Text = ""


class NewEdge(Closed):
    source: NodeId
    target: NodeId
    weight: Annotated[float, Field(gt=0, le=1e30, allow_inf_nan=False)] = 1.0


class NewNodes(Closed):
    person: Person
    nodes: Annotated[list[NewNode], Field(min_length=1, max_length=NODES)]
    edges: Annotated[list[NewEdge], Field(max_length=EDGES)] = []

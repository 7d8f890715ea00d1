"""Shapes of requests and answers, for the OpenAPI document and for whoever writes a client."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

NAME, DESCRIPTION, ID = 200, 5_000, 2_000  # characters, at most
ANSWERS, NODES, EDGES, CHANGES = 1_000, 1_000, 10_000, 20  # of one request


def _plain(text: str) -> str:
    """Refuse control characters, and halves of surrogate pairs, which no file can hold."""
    if any(unicodedata.category(letter) in ("Cc", "Cs") for letter in text):
        raise ValueError("has a control character or half of a character; leave it out")
    if not text.strip():
        raise ValueError("is blank")
    return text


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


class Open(BaseModel):
    """An answer; more fields may come with later versions."""

    model_config = ConfigDict(extra="allow")


class ErrorBody(BaseModel):
    code: str
    message: str
    where: str | None
    request_id: str | None


class Error(BaseModel):
    """Every refusal."""

    error: ErrorBody


class Brief(Open):
    position: int
    id: str
    title: str
    klass: Annotated[int | None, Field(alias="class")]
    confidence: float
    runner_up: int | None
    known: bool
    added: bool
    label: dict[str, Any] | None


class Page(Open):
    next: str | None
    total: int | None


class Briefs(Page):
    items: list[Brief]


class Match(Brief):
    match: Literal["id", "text"]
    snippet: str


class Found(Page):
    items: list[Match]


class Run(Open):
    name: str
    unseen: str
    nodes: int
    added_nodes: int
    edges: int
    classes: int
    version: int
    model: str
    encoder: str
    warnings: list[str]
    write: bool


class Map(Open):
    version: int
    nodes: int
    bounds: list[float]
    url: str
    bytes: int


class NodeView(Brief):
    text: str
    probabilities: list[float]
    words: dict[str, Any] | None
    hops: dict[str, Any] | None
    readings: list[dict[str, Any]]
    score: float | None
    change: dict[str, Any] | None
    neighbours: list[Brief]
    degree: int
    answers: list[dict[str, Any]]
    version: int


class ClassItem(Open):
    index: int
    name: str
    description: str | None
    nodes: int
    known: int
    expected: float | None
    confidence: float | None
    sink: bool
    warnings: list[str]


class ClassList(Open):
    version: int
    items: list[ClassItem]
    none: int


class ClassView(ClassItem):
    surest: list[Brief]
    least: list[Brief]
    confused: list[dict[str, Any]]
    histogram: list[int]


class ClassChange(Closed):
    """A class to add or, where it replaces one, to edit."""

    name: ClassName
    description: Annotated[str | None, Field(max_length=DESCRIPTION), AfterValidator(
        lambda text: None if text is None else _whole(text)
    )] = None
    replaces: Annotated[int | None, Field(ge=0, le=100_000)] = None


class ClassChanges(Closed):
    changes: Annotated[list[ClassChange], Field(max_length=CHANGES)] = []
    remove: Annotated[list[Annotated[int, Field(ge=0, le=100_000)]], Field(max_length=CHANGES)] = []


class KeepClasses(ClassChanges):
    person: Person


class Preview(Open):
    version: int
    milliseconds: float
    classes: list[dict[str, Any]]
    moved: list[dict[str, Any]]
    changed: int
    taken: list[dict[str, Any]]
    warnings: list[str]


class Answer(Closed):
    """What a person says of a node: a class, none of these, or nothing."""

    id: NodeId
    kind: Literal["class", "none", "skip"] = "class"
    klass: Annotated[ClassName | None, Field(alias="class")] = None
    queue: Literal["errors", "teach", "view"] | None = None


class GiveLabels(Closed):
    person: Person
    answers: Annotated[list[Answer], Field(min_length=1, max_length=ANSWERS)]


class Given(Open):
    items: list[dict[str, Any]]


class Undo(Closed):
    person: Person
    answer_id: Annotated[int | None, Field(ge=1, le=2**53)] = None


class Someone(Closed):
    person: Person


class Undone(Open):
    undone: int
    id: str


class LabelPage(Page):
    items: list[dict[str, Any]]


class LabelSummary(Open):
    answers: int
    nodes: int
    people: list[dict[str, Any]]
    disagreements: list[dict[str, Any]]
    accuracy: dict[str, Any] | None


class Imported(Open):
    imported: int
    skipped: int
    problems: list[str]


class Queue(Open):
    kind: str
    items: list[Brief]
    left: int
    note: str | None


class Version(Open):
    number: int
    parent: int | None
    kind: str
    state: str
    note: str
    at: str


class VersionList(Open):
    current: int
    items: list[Version]


class Changes(Page):
    items: list[dict[str, Any]]
    moved: list[dict[str, Any]]
    version: int
    against: int


class Job(Open):
    id: str
    kind: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    stage: str | None
    done: int
    total: int
    fraction: float
    person: str
    version: int | None
    error: str | None
    result: dict[str, Any] | None


class JobList(Open):
    items: list[Job]


class Classify(Closed):
    """Texts to answer; for each, perhaps, ids of nodes that it is linked with."""

    texts: Annotated[list[Text], Field(min_length=1, max_length=1000)]
    neighbours: Annotated[
        list[Annotated[list[NodeId], Field(max_length=1000)]] | None, Field(max_length=1000)
    ] = None


class Classified(Open):
    items: list[dict[str, Any]]
    classes: list[str]
    version: int


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


class Health(Open):
    status: str

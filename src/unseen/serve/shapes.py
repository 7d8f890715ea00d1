"""Shapes of answers, for the OpenAPI document and for whoever writes a client.

They are written without a second look; tests hold what is written to these shapes.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


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
    background: float | None
    flags: list[str]
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


class Preview(Open):
    version: int
    milliseconds: float
    classes: list[dict[str, Any]]
    moved: list[dict[str, Any]]
    changed: int
    taken: list[dict[str, Any]]
    warnings: list[str]


class Given(Open):
    items: list[dict[str, Any]]


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
    learned: dict[str, Any] | None


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


class Classified(Open):
    items: list[dict[str, Any]]
    classes: list[str]
    version: int


class Health(Open):
    status: str

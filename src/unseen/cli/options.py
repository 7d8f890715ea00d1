"""What several commands ask for: options with one name, one help text and one type."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Among(StrEnum):
    """Which classes an unlabelled node may belong to."""

    all = "all"
    unseen = "unseen"


class Device(StrEnum):
    """Where an encoder that runs a network runs."""

    cpu = "cpu"
    cuda = "cuda"
    auto = "auto"


class EngineName(StrEnum):
    """Where a run is made."""

    auto = "auto"
    memory = "memory"
    disk = "disk"
    ray = "ray"


Nodes = Annotated[Path, typer.Option(help="Nodes: id, text and/or numbers, optional label.")]
Edges = Annotated[
    Path | None,
    typer.Option(
        help="Edges: source, target, optional positive weight.", show_default="texts alone answer"
    ),
]
IdColumn = Annotated[str, typer.Option(help="Column of the nodes that holds the id.")]
TextColumns = Annotated[
    str, typer.Option(help="Column that holds the text; several, with commas between, are joined.")
]
LabelColumn = Annotated[str, typer.Option(help="Column of the nodes that holds a known class.")]
SourceColumn = Annotated[str, typer.Option(help="Column of the edges that holds the source.")]
TargetColumn = Annotated[str, typer.Option(help="Column of the edges that holds the target.")]
Top = Annotated[
    int, typer.Option(help="Add columns with the K most probable classes.", min=0, metavar="K")
]
ClassFile = Annotated[Path, typer.Option("--classes", help="Classes: name, optional description.")]
Features = Annotated[Path | None, typer.Option(help=".npz with one row of features a node.")]
Vocabulary = Annotated[Path | None, typer.Option(help="The word of each feature column.")]
Directed = Annotated[bool, typer.Option("--directed", help="A hop looks from source to target.")]
EncoderName = Annotated[
    str,
    typer.Option(
        "--encoder",
        help="auto, static, minilm, static+minilm, bert-tiny or a sentence-transformers model; "
        "words, counts or features to say what nodes are read from, or both: counts:minilm.",
    ),
]
AmongOption = Annotated[
    Among, typer.Option(help="all: any class. unseen: only classes without a labelled node.")
]
Abstain = Annotated[
    float | None,
    typer.Option(
        help='Answer "none of these" where the confidence is below this, from 0 to 1.',
        show_default="every node gets a class",
    ),
]
OpenWorld = Annotated[
    bool,
    typer.Option("--open", help='Answer "none of these" where no listed class seems to fit.'),
]
DeviceOption = Annotated[Device, typer.Option(help="For encoders that run a network.")]
Seed = Annotated[int, typer.Option(help="Of every random choice.", min=0, max=2**32 - 1)]
Spreadsheet = Annotated[
    bool,
    typer.Option(
        "--spreadsheet", help="Put an apostrophe before cells of the .csv that look like a formula."
    ),
]
Out = Annotated[Path, typer.Option("--out", help="Folder of the run; replaced as a whole.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="A line for everything that is begun.")]
NoReport = Annotated[
    bool, typer.Option("--no-report", help="Write no report.html: large graphs are done sooner.")
]
EngineOption = Annotated[
    EngineName,
    typer.Option("--engine", help="memory, disk (goes on after a stop), ray, or by the size."),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(help="What the run may take, such as 8GB.", show_default="most of what is free"),
]
Address = Annotated[
    str | None, typer.Option(help="Of a Ray cluster.", show_default="one on this machine")
]
PlanOnly = Annotated[
    bool, typer.Option("--plan", help="Say what the run would take, and run nothing.")
]

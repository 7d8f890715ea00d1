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


INPUT, COLUMNS, ANSWERS = "Other inputs", "Columns with other names", "How it answers"
WHERE, TOLD = "Where and how it runs", "What it writes and says"  # parts of a help

Nodes = Annotated[Path, typer.Option(help="Nodes: id, text (or numeric columns), optional label.")]
Edges = Annotated[
    Path | None,
    typer.Option(
        help="Edges: source, target, optional weight.", show_default="no edges, texts alone decide"
    ),
]
ClassFile = Annotated[Path, typer.Option("--classes", help="Classes: name, optional description.")]
LabelFile = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="Labels beside those of the nodes: id, label; such as the file of unseen suggest.",
    ),
]
Out = Annotated[
    Path, typer.Option("--out", help="Folder of the run. A run that is there is replaced.")
]
Features = Annotated[
    Path | None,
    typer.Option(help="Matrix (.npz) with one row per node.", rich_help_panel=INPUT),
]
Vocabulary = Annotated[
    Path | None,
    typer.Option(help="The word that each feature column counts.", rich_help_panel=INPUT),
]
Directed = Annotated[
    bool,
    typer.Option(
        "--directed",
        help="A node learns from the targets of its edges only.",
        metavar="",
        rich_help_panel=INPUT,
    ),
]
IdColumn = Annotated[str, typer.Option(help="Column of node ids.", rich_help_panel=COLUMNS)]
TextColumns = Annotated[
    str,
    typer.Option(
        help="Column of node texts; several with commas (title,abstract) are joined.",
        rich_help_panel=COLUMNS,
    ),
]
LabelColumn = Annotated[str, typer.Option(help="Column of known classes.", rich_help_panel=COLUMNS)]
SourceColumn = Annotated[
    str, typer.Option(help="Column of the nodes where edges start.", rich_help_panel=COLUMNS)
]
TargetColumn = Annotated[
    str, typer.Option(help="Column of the nodes where edges end.", rich_help_panel=COLUMNS)
]
EncoderName = Annotated[
    str,
    typer.Option(
        "--encoder",
        help="What turns texts into vectors: static, minilm, static+minilm, bert-tiny, or a "
        "model of sentence-transformers. words, counts or features says what nodes are read "
        "from; counts:minilm says both.",
        rich_help_panel=ANSWERS,
    ),
]
AmongOption = Annotated[
    Among,
    typer.Option(
        help="all: every class may be an answer. unseen: only classes without a labelled node.",
        rich_help_panel=ANSWERS,
    ),
]
Abstain = Annotated[
    float | None,
    typer.Option(
        help='Answer "none of these" below this confidence, from 0 to 1.',
        show_default="every node gets a class",
        rich_help_panel=ANSWERS,
    ),
]
OpenWorld = Annotated[
    bool,
    typer.Option(
        "--open",
        help='Answer "none of these" where no listed class seems to fit.',
        metavar="",
        rich_help_panel=ANSWERS,
    ),
]
DeviceOption = Annotated[
    Device, typer.Option(help="For encoders that run a network.", rich_help_panel=WHERE)
]
Seed = Annotated[
    int,
    typer.Option(help="Seed of every random choice.", min=0, max=2**32 - 1, rich_help_panel=WHERE),
]
Top = Annotated[
    int,
    typer.Option(
        help="Add columns with the K most probable classes.",
        min=0,
        metavar="K",
        rich_help_panel=TOLD,
    ),
]
Spreadsheet = Annotated[
    bool,
    typer.Option(
        "--spreadsheet",
        help="Put an apostrophe before cells of the .csv that a spreadsheet would compute.",
        metavar="",
        rich_help_panel=TOLD,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON instead of tables.", metavar="", rich_help_panel=TOLD),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Print errors only.", metavar="", rich_help_panel=TOLD),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", help="Print a line about each step.", metavar="", rich_help_panel=TOLD
    ),
]
NoReport = Annotated[
    bool,
    typer.Option(
        "--no-report",
        help="Leave out report.html, which saves time on large graphs.",
        metavar="",
        rich_help_panel=TOLD,
    ),
]
EngineOption = Annotated[
    EngineName,
    typer.Option(
        "--engine",
        help="memory; disk, for graphs larger than memory (can be stopped and repeated); ray, for "
        "several machines; auto: memory or disk, by size.",
        rich_help_panel=WHERE,
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        help="How much memory the run may use, such as 8GB.",
        show_default="most of what is free",
        rich_help_panel=WHERE,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        help="Address of a Ray cluster.",
        show_default="one on this machine",
        rich_help_panel=WHERE,
    ),
]
PlanOnly = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Say what the run would take, and stop.",
        metavar="",
        rich_help_panel=WHERE,
    ),
]

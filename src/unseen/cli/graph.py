"""Commands that answer: `unseen classify` and `predict`."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter as clock
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli.console import number, print_json, print_table, progress_bar, say
from unseen.cli.options import (
    Abstain,
    Address,
    Among,
    AmongOption,
    AsJson,
    ClassFile,
    Device,
    DeviceOption,
    Directed,
    Edges,
    EncoderName,
    EngineName,
    EngineOption,
    Features,
    IdColumn,
    LabelColumn,
    LabelFile,
    MemoryLimit,
    Nodes,
    NoReport,
    OpenWorld,
    Out,
    PlanOnly,
    Seed,
    SourceColumn,
    Spreadsheet,
    TargetColumn,
    TextColumns,
    Top,
    Vocabulary,
)

if TYPE_CHECKING:
    from unseen.engines.plan import Plan
    from unseen.prediction import Prediction


def classify(
    nodes: Nodes,
    class_file: ClassFile,
    out: Out,
    edges: Edges = None,
    labels: LabelFile = None,
    encoder: EncoderName = "auto",
    among: AmongOption = Among.all,
    abstain: Abstain = None,
    open_world: OpenWorld = False,
    features: Features = None,
    vocabulary: Vocabulary = None,
    directed: Directed = False,
    id_column: IdColumn = "id",
    text_columns: TextColumns = "text",
    label_column: LabelColumn = "label",
    source_column: SourceColumn = "source",
    target_column: TargetColumn = "target",
    top: Top = 0,
    spreadsheet: Spreadsheet = False,
    no_report: NoReport = False,
    device: DeviceOption = Device.cpu,
    seed: Seed = 0,
    engine: EngineOption = EngineName.auto,
    memory: MemoryLimit = None,
    address: Address = None,
    plan: PlanOnly = False,
    as_json: AsJson = False,
) -> None:
    """Give every unlabelled node a class, a confidence and a reason.

    Example: [bold]unseen classify --nodes nodes.csv --edges edges.csv
    --classes classes.csv --out run[/bold]

    The folder run then holds predictions.csv, report.html, the model, and a record of every choice.
    """
    began = clock()
    from unseen.files import check_asked, classify_files, plan_run
    from unseen.io.read import read_classes

    classes = read_classes(class_file)
    chosen = plan_run(nodes, edges, classes, engine=engine.value, memory=memory, features=features)
    settings = {
        "encoder": encoder,
        "among": among.value,
        "abstain": abstain,
        "open_world": open_world,
        "device": device.value,
        "seed": seed,
        "address": address,
    }
    reading = {
        "labels": labels,
        "features": features,
        "vocabulary": vocabulary,
        "directed": directed,
        **columns_of(id_column, text_columns, label_column, source_column, target_column),
    }
    check_asked(chosen, edges, classes, settings, reading, spreadsheet)
    if plan:
        _show_plan(chosen, as_json)
        return
    if chosen.engine != "memory" and not as_json:
        say(f"Engine: {chosen.engine} ({chosen.why}).")
    with progress_bar(as_json) as progress:
        prediction = classify_files(
            nodes,
            edges,
            classes,
            out,
            plan=chosen,
            settings=settings,
            reading=reading,
            top=top,
            spreadsheet=spreadsheet,
            report=not no_report,
            progress=progress,
        )
    _summarise(prediction, out, as_json, clock() - began)


def predict(
    model: Annotated[Path, typer.Option(help="Folder of a run, or of a saved model.")],
    nodes: Nodes,
    class_file: Annotated[
        Path | None,
        typer.Option(
            "--classes", help="Classes to choose from.", show_default="those of the model"
        ),
    ] = None,
    edges: Edges = None,
    out: Out = Path("unseen-predict"),
    with_run: Annotated[
        Path | None,
        typer.Option(help="The nodes join the graph of this run; edges may lead to its nodes."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="With --with-run: answer its nodes again, too.", metavar=""),
    ] = False,
    among: AmongOption = Among.all,
    abstain: Abstain = None,
    open_world: OpenWorld = False,
    features: Features = None,
    vocabulary: Vocabulary = None,
    directed: Directed = False,
    id_column: IdColumn = "id",
    text_columns: TextColumns = "text",
    label_column: LabelColumn = "label",
    source_column: SourceColumn = "source",
    target_column: TargetColumn = "target",
    top: Top = 0,
    spreadsheet: Spreadsheet = False,
    no_report: NoReport = False,
    device: DeviceOption = Device.cpu,
    as_json: AsJson = False,
) -> None:
    """Use a saved model on new nodes, another graph or added classes, without fitting again.

    Example: [bold]unseen predict --model run --with-run run --nodes new_nodes.csv
    --edges new_edges.csv --out new[/bold]
    """
    began = clock()
    from unseen.inference import predict_files
    from unseen.io.atomic import check_place

    check_place(out, model, with_run, nodes, edges, class_file, features, vocabulary)
    columns = columns_of(id_column, text_columns, label_column, source_column, target_column)
    with progress_bar(as_json) as progress:
        prediction = predict_files(
            model,
            nodes,
            edges,
            class_file,
            with_run=with_run,
            everything=everything,
            settings={
                "among": among.value,
                "abstain": abstain,
                "open_world": open_world,
                "device": device.value,
                "progress": progress,
            },
            reading={
                "features": features,
                "vocabulary": vocabulary,
                "directed": directed,
                **columns,
            },
        )
        progress("write the run", 0, 1)
        prediction.save(out, top, spreadsheet, report=not no_report)
    _summarise(prediction, out, as_json, clock() - began)


def columns_of(ids: str, texts: str, label: str, source: str, target: str) -> dict[str, Any]:
    """Return the options of columns as the readers take them."""
    return {
        "id_column": ids,
        "text_columns": tuple(name.strip() for name in texts.split(",") if name.strip()),
        "label_column": label,
        "source_column": source,
        "target_column": target,
    }


def _show_plan(plan: Plan, as_json: bool) -> None:
    """Say how a run would be made."""
    from dataclasses import asdict

    if as_json:
        print_json(asdict(plan))
        return
    print_table("The run as it would be made", ("", ""), plan.rows())


def _summarise(prediction: Prediction, out: Path, as_json: bool, seconds: float) -> None:
    """Say what came out, how long all of it took, and where it lies."""
    from unseen.core.classes import NONE_OF_THESE

    record = prediction.record
    if as_json:
        kept = ("graph", "abstained", "classes", "choices", "homophily", "warnings")
        found = {key: record[key] for key in kept}
        print_json({"out": str(out), "seconds": round(seconds, 2), **found})
        return
    rows = [
        (row["name"], row["labelled"], row["predicted"], number(row["confidence"]))
        for row in record["classes"]
    ]
    if record["abstained"] or record["settings"].get("abstain") is not None:
        rows.append((f"({NONE_OF_THESE})", "-", record["abstained"], "-"))
    print_table(
        f"{len(prediction):,} nodes in {seconds:.1f} s",
        ("class", "labelled", "predicted", "mean confidence"),
        rows,
    )
    for choice in record["choices"]:
        say(f"{choice['what']}: {choice['chosen']} ({choice['rule']})")
    for warning in record["warnings"]:
        say(f"Note: {warning}")
    parts = out / "predictions"
    say(f"Predictions: {parts / '*.parquet' if parts.is_dir() else out / 'predictions.csv'}")
    if (out / "report.html").is_file():
        say(f"Report: {out / 'report.html'}")

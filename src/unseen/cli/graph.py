"""Commands that read a graph of the user: `unseen classify`, `predict` and `check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli.console import number, print_json, print_table, progress_bar, say
from unseen.cli.options import (
    Abstain,
    Among,
    AmongOption,
    AsJson,
    ClassFile,
    Device,
    DeviceOption,
    Directed,
    Edges,
    EncoderName,
    Features,
    IdColumn,
    LabelColumn,
    Nodes,
    OpenWorld,
    Out,
    Seed,
    SourceColumn,
    Spreadsheet,
    TargetColumn,
    TextColumns,
    Top,
    Vocabulary,
)

if TYPE_CHECKING:
    from unseen.prediction import Prediction


def classify(
    nodes: Nodes,
    class_file: ClassFile,
    out: Out,
    edges: Edges = None,
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
    device: DeviceOption = Device.cpu,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Give every unlabelled node a class, a confidence and a reason."""
    from unseen.estimator import classify as run
    from unseen.io.atomic import check_place
    from unseen.io.read import read_inputs

    check_place(out)
    columns = _columns(id_column, text_columns, label_column, source_column, target_column)
    graph, classes, labels = read_inputs(
        nodes,
        edges,
        class_file,
        features=features,
        vocabulary=vocabulary,
        directed=directed,
        **columns,
    )
    with progress_bar(as_json) as progress:
        prediction = run(
            graph,
            classes,
            labels,
            encoder=encoder,
            among=among.value,
            abstain=abstain,
            open_world=open_world,
            device=device.value,
            seed=seed,
            progress=progress,
        )
        progress("write the run", 0, 1)
        prediction.save(out, top, spreadsheet)
    _summarise(prediction, out, as_json)


def predict(
    model: Annotated[Path, typer.Option(help="Folder of a run or of a saved model.")],
    nodes: Nodes,
    class_file: Annotated[
        Path | None,
        typer.Option("--classes", help="Classes to choose from; the model's own if left out."),
    ] = None,
    edges: Edges = None,
    out: Out = Path("unseen-predict"),
    with_run: Annotated[
        Path | None,
        typer.Option(help="The nodes are new in the graph of this run: edges may name its nodes."),
    ] = None,
    everything: Annotated[
        bool,
        typer.Option("--all", help="With --with-run: answer all nodes again, old ones included."),
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
    device: DeviceOption = Device.cpu,
    as_json: AsJson = False,
) -> None:
    """Use a saved model on new nodes, another graph or added classes, without fitting again."""
    from unseen.inference import predict_files
    from unseen.io.atomic import check_place

    check_place(out)
    columns = _columns(id_column, text_columns, label_column, source_column, target_column)
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
        prediction.save(out, top, spreadsheet)
    _summarise(prediction, out, as_json)


def check(
    nodes: Nodes,
    class_file: ClassFile,
    edges: Edges = None,
    encoder: EncoderName = "auto",
    among: AmongOption = Among.all,
    features: Features = None,
    vocabulary: Vocabulary = None,
    directed: Directed = False,
    id_column: IdColumn = "id",
    text_columns: TextColumns = "text",
    label_column: LabelColumn = "label",
    source_column: SourceColumn = "source",
    target_column: TargetColumn = "target",
    device: DeviceOption = Device.cpu,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Look at the inputs: counts, repairs, balance, likely problems. Fits nothing."""
    from unseen.check import check as run
    from unseen.io.read import read_inputs

    columns = _columns(id_column, text_columns, label_column, source_column, target_column)
    graph, classes, labels = read_inputs(
        nodes,
        edges,
        class_file,
        features=features,
        vocabulary=vocabulary,
        directed=directed,
        **columns,
    )
    with progress_bar(as_json) as progress:
        found = run(
            graph,
            classes,
            labels,
            encoder=encoder,
            among=among.value,
            device=device.value,
            seed=seed,
            progress=progress,
        )
    if as_json:
        print_json(found)
        return
    for title, key in (("Graph", "graph"), ("Repaired", "repaired")):
        rows = [(name.replace("_", " "), value) for name, value in found[key].items()]
        print_table(title, ("", ""), rows)
    print_table("Classes", ("class", "labelled nodes"), list(found["classes"].items()))
    quality = [(kind, *values.values()) for kind, values in found["csd_quality"].items()]
    if quality:
        print_table(
            "CSD quality (Eq. 1-3)", ("class text", "KL ↓", "cosine ↑", "Euclidean ↓"), quality
        )
    if "homophily" in found:
        print_table("Edge homophily, estimated", ("", ""), list(found["homophily"].items()))
    say("Likely problems:" if found["problems"] else "No problems found.")
    for problem in found["problems"]:
        say(f"  - {problem}")


def suggest(
    run: Annotated[Path, typer.Option(help="Folder of a run.")],
    count: Annotated[int, typer.Option(help="How many nodes you can label.", min=1)] = 50,
    errors: Annotated[
        bool, typer.Option("--errors", help="The nodes most likely wrong instead.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write a .csv: id, label, confidence, text.")
    ] = None,
    seed: Seed = 0,
    spreadsheet: Spreadsheet = False,
    as_json: AsJson = False,
) -> None:
    """Name the nodes whose labels would teach most: fill them in and classify again."""
    from unseen.core.escape import without_formulas
    from unseen.io.atomic import check_file, replacing
    from unseen.io.files import write_text
    from unseen.run import load

    if out is not None:
        check_file(out)
    with progress_bar(as_json) as progress:
        fitted = load(run)
        fitted.progress = progress
        found = fitted.explain().suggest(count, errors, seed)
    if out is not None:
        table = without_formulas(found) if spreadsheet else found
        with replacing(out) as new:
            write_text(new, table.write_csv())
    if as_json:
        print_json(found.to_dicts())
        return
    rows = [(row["id"], row["label"], number(row["confidence"])) for row in found.to_dicts()]
    print_table(f"{len(rows)} nodes to label", ("id", "answer now", "confidence"), rows)
    if out is not None:
        say(f"Written: {out}")


def _columns(ids: str, texts: str, label: str, source: str, target: str) -> dict[str, Any]:
    """Return the options of columns as the readers take them."""
    return {
        "id_column": ids,
        "text_columns": tuple(name.strip() for name in texts.split(",") if name.strip()),
        "label_column": label,
        "source_column": source,
        "target_column": target,
    }


def _summarise(prediction: Prediction, out: Path, as_json: bool) -> None:
    """Say what came out and where it lies."""
    from unseen.core.classes import NONE_OF_THESE

    record = prediction.record
    if as_json:
        kept = ("seconds", "graph", "abstained", "classes", "choices", "homophily", "warnings")
        print_json({"out": str(out), **{key: record[key] for key in kept}})
        return
    rows = [
        (row["name"], row["labelled"], row["predicted"], number(row["confidence"]))
        for row in record["classes"]
    ]
    if record["abstained"] or record["settings"].get("abstain") is not None:
        rows.append((f"({NONE_OF_THESE})", "-", record["abstained"], "-"))
    print_table(
        f"{len(prediction):,} nodes in {record['seconds']:.1f} s",
        ("class", "labelled", "predicted", "mean confidence"),
        rows,
    )
    for choice in record["choices"]:
        say(f"{choice['what']}: {choice['chosen']} ({choice['rule']})")
    for warning in record["warnings"]:
        say(f"Note: {warning}")
    say(f"Predictions: {out / 'predictions.csv'}")
    say(f"Report: {out / 'report.html'}")

"""Commands that read a graph of the user: `unseen classify`, `predict` and `check`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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
    Nodes,
    Out,
    Seed,
    Vocabulary,
)
from unseen.console import number, print_json, print_table, progress_bar, say

if TYPE_CHECKING:
    from unseen.classes import Classes, Labels
    from unseen.graph import Graph
    from unseen.prediction import Prediction


def classify(
    nodes: Nodes,
    edges: Edges,
    class_file: ClassFile,
    out: Out,
    encoder: EncoderName = "auto",
    among: AmongOption = Among.all,
    abstain: Abstain = None,
    features: Features = None,
    vocabulary: Vocabulary = None,
    directed: Directed = False,
    device: DeviceOption = Device.cpu,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Give every unlabelled node a class, a confidence and a reason."""
    from unseen.files import check_place
    from unseen.pipeline import classify as run

    check_place(out)
    graph, classes, labels = _read(nodes, edges, class_file, features, vocabulary, directed)
    with progress_bar(as_json) as progress:
        prediction = run(
            graph,
            classes,
            labels,
            encoder=encoder,
            among=among.value,
            abstain=abstain,
            device=device.value,
            seed=seed,
            progress=progress,
        )
        progress("write the run", 0, 1)
        prediction.save(out)
    _tell(prediction, out, as_json)


def predict(
    model: Annotated[Path, typer.Option(help="Folder of a run or of a saved model.")],
    nodes: Nodes,
    edges: Edges,
    class_file: ClassFile,
    out: Out = Path("unseen-predict"),
    with_run: Annotated[
        Path | None, typer.Option(help="Join the graph of this run: edges may name its nodes.")
    ] = None,
    among: AmongOption = Among.all,
    abstain: Abstain = None,
    features: Features = None,
    vocabulary: Vocabulary = None,
    directed: Directed = False,
    device: DeviceOption = Device.cpu,
    as_json: AsJson = False,
) -> None:
    """Use a saved model on another graph, or with added classes, without training again."""
    from unseen.classes import Labels
    from unseen.files import check_place
    from unseen.read.files import has_labels, read_classes, read_graph, read_labels
    from unseen.reuse import predict as run
    from unseen.run import load, read_run_graph

    check_place(out)
    classifier = load(model)
    beside = None if with_run is None else read_run_graph(with_run)
    graph = read_graph(
        nodes, edges, features=features, vocabulary=vocabulary, directed=directed, beside=beside
    )
    classes = read_classes(class_file)
    everything = classifier.classes.joined(classes)  # labels may name a class that is not asked for
    labels = Labels.none(graph.nodes)
    if has_labels(nodes):
        labels = read_labels(nodes, graph, everything)
    if with_run is not None and beside is not None:
        old = read_labels(with_run / "graph" / "nodes.parquet", beside, everything)
        labels.of[: beside.nodes] = old.of
    with progress_bar(as_json) as progress:
        prediction = run(
            classifier,
            graph,
            classes,
            labels.named(everything, graph),
            among=among.value,
            abstain=abstain,
            device=device.value,
            progress=progress,
        )
        progress("write the run", 0, 1)
        prediction.save(out)
    _tell(prediction, out, as_json)


def check(
    nodes: Nodes,
    edges: Edges,
    class_file: ClassFile,
    encoder: EncoderName = "auto",
    features: Features = None,
    vocabulary: Vocabulary = None,
    directed: Directed = False,
    device: DeviceOption = Device.cpu,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Look at the inputs: counts, repairs, balance, likely problems. Trains nothing."""
    from unseen.check import check as run

    graph, classes, labels = _read(nodes, edges, class_file, features, vocabulary, directed)
    with progress_bar(as_json) as progress:
        found = run(
            graph,
            classes,
            labels,
            encoder=encoder,
            device=device.value,
            seed=seed,
            progress=progress,
        )
    if as_json:
        print_json(found)
        return
    print_table(
        "Graph", ("", ""), [(key.replace("_", " "), value) for key, value in found["graph"].items()]
    )
    print_table(
        "Repaired", ("", ""), [(k.replace("_", " "), v) for k, v in found["repaired"].items()]
    )
    print_table("Classes", ("class", "labelled nodes"), list(found["classes"].items()))
    quality = [(kind, *values.values()) for kind, values in found["csd_quality"].items()]
    if quality:
        print_table(
            "CSD quality (Eq. 1-3)", ("class text", "KL ↓", "cosine ↑", "Euclidean ↓"), quality
        )
    if "agreement" in found:
        print_table("Agreement of neighbours", ("", ""), list(found["agreement"].items()))
    say("Likely problems:" if found["problems"] else "No problems found.")
    for problem in found["problems"]:
        say(f"  - {problem}")


def _read(
    nodes: Path,
    edges: Path,
    class_file: Path,
    features: Path | None,
    vocabulary: Path | None,
    directed: bool,
) -> tuple[Graph, Classes, Labels]:
    from unseen.classes import Labels
    from unseen.read.files import has_labels, read_classes, read_graph, read_labels

    graph = read_graph(nodes, edges, features=features, vocabulary=vocabulary, directed=directed)
    classes = read_classes(class_file)
    if has_labels(nodes):
        return graph, classes, read_labels(nodes, graph, classes)
    return graph, classes, Labels.none(graph.nodes)


def _tell(prediction: Prediction, out: Path, as_json: bool) -> None:
    """Say what came out and where it lies."""
    from unseen.classes import NONE_OF_THESE

    record = prediction.record
    if as_json:
        kept = ("seconds", "graph", "abstained", "classes", "choices", "agreement", "warnings")
        print_json({"out": str(out), **{key: record[key] for key in kept}})
        return
    rows = [
        (row["name"], row["labelled"], row["predicted"], number(row["confidence"]))
        for row in record["classes"]
    ]
    if record["settings"].get("abstain") is not None:
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

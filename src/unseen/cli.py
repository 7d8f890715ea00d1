"""The command line: parse, call, print. Heavy imports wait inside the commands."""

from __future__ import annotations

import io
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unseen.cli_big import Among, AsJson, register
from unseen.console import number, print_json, print_table, progress_bar, say

if TYPE_CHECKING:
    from unseen.classes import Classes, Labels
    from unseen.graph import Graph
    from unseen.prediction import Prediction

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="Labels for classes that nobody has labelled: zero-shot node classification.\n\n"
    "Start with [bold]unseen demo[/bold], then bring your own graph: "
    "[bold]unseen classify --nodes nodes.csv --edges edges.csv --classes classes.csv --out run"
    "[/bold]\n\nFiles may be .csv, .tsv, .parquet or .jsonl. Nodes: id, text (or numeric columns), "
    "optional label. Edges: source, target, optional weight. Classes: name, optional description.",
)
datasets_app = typer.Typer(no_args_is_help=True, help="Graphs to try things on.")
app.add_typer(datasets_app, name="datasets")


class Device(StrEnum):
    """Where an encoder that runs a network runs."""

    cpu = "cpu"
    cuda = "cuda"
    auto = "auto"


Nodes = Annotated[Path, typer.Option(help="Nodes: id, text and/or numbers, optional label.")]
Edges = Annotated[Path, typer.Option(help="Edges: source, target, optional positive weight.")]
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
DeviceOption = Annotated[Device, typer.Option(help="For encoders that run a network.")]
Seed = Annotated[int, typer.Option(help="Of every random choice.", min=0)]
Out = Annotated[Path, typer.Option("--out", help="Folder of the run; replaced as a whole.")]


@app.command()
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


@app.command()
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


@app.command()
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


@app.command()
def evaluate(
    predictions: Annotated[
        Path,
        typer.Option(
            help="predictions.csv of a run: id, label, ... In the folder of its run, nodes of seen "
            "and of unseen classes are scored apart too, with the harmonic mean of the two, if the "
            "truth has both."
        ),
    ],
    truth: Annotated[Path, typer.Option(help="The true classes: id, label.")],
    as_json: AsJson = False,
) -> None:
    """Compare predictions with the truth: accuracy, floor, coverage, calibration, confusion."""
    from unseen.evaluate import evaluate_files

    scores = evaluate_files(predictions, truth).to_dict()
    if as_json:
        print_json(scores)
        return
    abstention = ("abstained", "share_answered", "accuracy_answered")
    rows = [
        (name.replace("_", " "), number(value))
        for name, value in scores.items()
        if isinstance(value, int | float) and (scores["abstained"] or name not in abstention)
    ]
    print_table("Scores", ("", ""), rows)
    generalised = scores["generalised"]
    if generalised:
        print_table(
            "Generalised zero-shot",
            ("", ""),
            [(name.replace("_", " "), number(value)) for name, value in generalised.items()],
        )
    surest = scores["surest"]
    if surest:
        keys = ("share", "coverage", "threshold", "accuracy")
        print_table(
            "Accuracy when only the surest nodes are answered",
            ("surest", "coverage", "confidence from", "accuracy"),
            [
                (f"{share:.0%}", *map(number, found))
                for share, *found in zip(*(surest[key] for key in keys), strict=True)
            ],
        )
    calibration = scores.get("calibration")
    if calibration:
        print_table(
            "Calibration", ("", ""), [("expected calibration error", number(calibration["error"]))]
        )
    names, counts = scores["names"], scores["confusion"]
    wrong = sorted(
        (-counts[i][j], names[i], names[j])
        for i in range(len(names))
        for j in range(len(names))
        if i != j and counts[i][j]
    )
    print_table(
        "Most frequent confusions",
        ("true class", "was given", "nodes"),
        [(a, b, -count) for count, a, b in wrong[:15]],
    )


@app.command()
def compare(
    before: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    after: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of another run.")],
    as_json: AsJson = False,
) -> None:
    """Tell what changed between two runs."""
    from dataclasses import asdict

    from unseen.evaluate import compare_runs

    found = asdict(compare_runs(before, after))
    if as_json:
        print_json(found)
        return
    plain = [
        (key.replace("_", " "), number(value))
        for key, value in found.items()
        if isinstance(value, int | float | None)
    ]
    print_table("Runs", ("", ""), plain)
    for key, value in found.items():
        if isinstance(value, dict) and value:
            changes = [(name, f"{a} -> {b}") for name, (a, b) in value.items()]
            print_table(key.replace("_", " ").capitalize(), ("setting", "change"), changes)
        elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            columns = tuple(value[0])
            rows = [tuple(number(row[c]) for c in columns) for row in value[:15]]
            print_table(key.replace("_", " ").capitalize(), columns, rows)


@app.command()
def csd(
    class_file: ClassFile,
    encoder: EncoderName = "static",
    device: DeviceOption = Device.cpu,
    nodes: Annotated[
        Path | None, typer.Option(help="Labelled nodes (id, text, label) to judge quality by.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the vectors here (.safetensors).")] = None,
    texts: Annotated[
        str | None, typer.Option(help="wikipedia: fill in missing descriptions with articles.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Acquire class semantic descriptions and compare them (Eq. 1-3 of the paper)."""
    from unseen.csd.compare import compare_csds
    from unseen.read.files import read_classes

    with progress_bar(as_json) as progress:
        classes = read_classes(class_file)
        found = compare_csds(classes, encoder, device.value, nodes, out, progress, texts)
    if as_json:
        print_json(found)
        return
    for kind, rows in found["nearest"].items():
        print_table(f"Nearest classes by {kind}", ("class", "nearest", "cosine"), rows)
    if found["quality"]:
        rows = [
            (kind, *(number(v) for v in values.values()))
            for kind, values in found["quality"].items()
        ]
        print_table("Quality (Eq. 1-3)", ("class text", "KL ↓", "cosine ↑", "Euclidean ↓"), rows)
    for article in found["articles"]:
        say("{class}: Wikipedia, {title!r}, revision {revision}, {url}".format(**article))
    say(found["note"])


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("unseen-demo"),
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Find eight sections of Python's standard library without a label of theirs."""
    from unseen.demo import demonstrate
    from unseen.files import check_place

    check_place(out)
    with progress_bar(as_json) as progress:
        progress("read the standard library", 0, 1)
        prediction, rows = demonstrate(seed, progress)
        progress("write the run", 0, 1)
        prediction.save(out)
    if as_json:
        shown = {row.method: {"accuracy": row.accuracy, "macro": row.macro} for row in rows}
        print_json({"rows": shown, "report": str(out / "report.html")})
        return
    print_table(
        f"{len(prediction):,} nodes of 8 unseen sections of Python's library",
        ("method", "accuracy %", "macro accuracy %"),
        [(row.method, f"{row.accuracy:.1f}", f"{row.macro:.1f}") for row in rows],
    )
    say(f"Report: {out / 'report.html'}")


@app.command()
def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="data, table1, decomposition, search, table3, table4, table5, table6, ablation, "
            "sensitivity, switches, cost, or all."
        ),
    ],
    out: Annotated[
        Path, typer.Option(help="Folder of the records; runs that lie in it are not repeated.")
    ] = Path("unseen-paper"),
    methods: Annotated[
        str | None, typer.Option(help="Rows to run, with commas between: dgpn,eszsl,random.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each cell; 10, or 3 for slow methods.")
    ] = None,
    slow_seeds: Annotated[
        int | None, typer.Option(min=1, help="The same for the methods that train slowly.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two runs and a tenth of each schedule.")
    ] = False,
    trials: Annotated[int, typer.Option(min=1, help="Of each search.")] = 60,
    jobs: Annotated[int, typer.Option(min=0, help="Processes; 0 = one for each core.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Make a table or figure of the paper again, ours beside the published one.

    What was finished before a kill is not run again: repeat the command to go on.
    """
    from unseen.paper.plan import Plan
    from unseen.paper.reproduce import command_line
    from unseen.paper.reproduce import reproduce as run

    rows = None if methods is None else tuple(part.strip() for part in methods.split(","))
    more = {"trials": trials} if trials != Plan.trials else {}
    given = {"methods": methods, "seeds": seeds, "slow-seeds": slow_seeds, "quick": quick}
    command = command_line(name, **given, **more)
    with progress_bar(as_json) as progress:
        plan = Plan(seeds, rows, quick, trials=trials, slow_seeds=slow_seeds)
        try:
            reports = run(name, plan, out, progress, jobs, command)
        except KeyboardInterrupt:
            sys.stderr.write(
                f"unseen: interrupted; finished runs are kept in {out}, go on with {command}\n"
            )
            raise typer.Exit(130) from None
    if as_json:
        from dataclasses import asdict

        print_json({report.name: [asdict(sheet) for sheet in report.sheets] for report in reports})
        return
    for report in reports:
        for sheet in report.sheets:
            print_table(sheet.title, sheet.columns, sheet.rows)
            for note in sheet.notes:
                say(note)
        say(f"Written: {', '.join(str(path) for path in report.files)}")


@datasets_app.command("list")
def list_datasets(as_json: AsJson = False) -> None:
    """Name the data sets."""
    from unseen.datasets.registry import names

    if as_json:
        print_json(dict(names()))
        return
    print_table("Data sets", ("name", "about"), names())


@datasets_app.command("get")
def get_dataset(name: Annotated[str, typer.Argument(help="Name of the set.")]) -> None:
    """Make a data set available offline."""
    from unseen.datasets.catalogue import CATALOGUE
    from unseen.datasets.fetch import get
    from unseen.datasets.registry import load

    with progress_bar(False) as progress:
        folder = get(name, lambda step: progress(step, 0, 1))
    say(f"{name} is ready in {folder}")
    for note in load(name).notes if name in CATALOGUE else ():
        say(f"Note: {note}")


@datasets_app.command("export")
def export_dataset(
    name: Annotated[str, typer.Argument(help="Name of the set.")],
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to write.")],
    split: Annotated[
        str | None, typer.Option(help="Fill in labels of the seen classes of this split.")
    ] = None,
) -> None:
    """Write nodes, edges, classes and truth as files that the other commands read."""
    from unseen.datasets.export import export
    from unseen.datasets.registry import load

    for path in export(load(name), folder, split):
        say(str(path))


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
    labelled = has_labels(nodes)
    return (
        graph,
        classes,
        (read_labels(nodes, graph, classes) if labelled else Labels.none(graph.nodes)),
    )


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


register(app)


def main() -> None:
    """Run the command line; a user's mistake is one line on standard error and exit code 2."""
    from unseen.errors import UnseenError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a letter shows another
            stream.reconfigure(errors="replace")
    try:
        app()
    except UnseenError as error:
        sys.stderr.write(f"unseen: {' '.join(str(error).split())}\n")
        sys.exit(2)
    except KeyboardInterrupt:
        sys.stderr.write(
            "unseen: interrupted; no half-written file is left, and finished parts are kept\n"
        )
        sys.exit(130)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        sys.stderr.write(f"unseen: {error.filename or ''}: {error.strerror or error}\n")
        sys.exit(2)
    except MemoryError:
        sys.stderr.write("unseen: not enough memory for this graph; try a smaller one\n")
        sys.exit(2)


if __name__ == "__main__":
    main()

"""Commands that measure what is there: `unseen evaluate`, `compare` and `csd`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import number, plain, print_json, print_table, progress_bar, say
from unseen.cli.options import AsJson, ClassFile, Device, DeviceOption, EncoderName

CLASSES = 30  # of a table
SOME = 10  # ids that are named


def evaluate(
    predictions: Annotated[
        Path,
        typer.Option(
            help="A run, its predictions.csv (id, label), or the folder predictions of a disk run. "
            "Seen and unseen classes are also scored apart, where run and truth have both."
        ),
    ],
    truth: Annotated[Path, typer.Option(help="True classes: id, label.")],
    report: Annotated[
        Path | None,
        typer.Option(help="Write a report of the run with its accuracy (.html)."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare predictions with the truth: accuracy, recall of each class, calibration, confusions.

    Example: [bold]unseen evaluate --predictions run/predictions.csv --truth truth.csv[/bold]
    """
    from unseen.evaluate import evaluate_files
    from unseen.io.atomic import check_file, replacing

    if report is not None:
        check_file(report, ".html", ".htm")
    scores = evaluate_files(predictions, truth).to_dict()
    if report is not None:
        from unseen.io.files import write_text
        from unseen.report.again import render_run

        run = predictions if predictions.is_dir() else predictions.parent
        page = render_run(run, scores)
        with replacing(report) as new:
            write_text(new, page)
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
    _per_class(scores)
    names, counts = scores["names"], scores["confusion"]
    wrong = sorted(
        (-counts[i][j], names[i], names[j])
        for i in range(len(names))
        for j in range(len(names))
        if i != j and counts[i][j]
    )
    if wrong:
        print_table(
            "Most frequent confusions",
            ("true class", "predicted", "nodes"),
            [(a, b, -count) for count, a, b in wrong[:15]],
        )
    if report is not None:
        say(f"Report: {report}")


def _per_class(scores: dict[str, Any]) -> None:
    """Print recall and precision, the class with the lowest recall first."""
    given = [sum(column) for column in zip(*scores["confusion"], strict=True)]
    rows = []
    for c, (name, nodes, recall) in enumerate(
        zip(scores["names"], scores["support"], scores["recall"], strict=True)
    ):
        precision = scores["confusion"][c][c] / given[c] if given[c] else None
        if nodes or given[c]:
            lowest = 2.0 if recall is None else recall
            rows.append((lowest, (name, nodes, given[c], number(recall), number(precision))))
    rows.sort(key=lambda row: row[0])
    few = f", the {CLASSES} with the lowest recall" if len(rows) > CLASSES else ""
    print_table(
        f"Classes{few}",
        ("class", "nodes", "predicted", "recall", "precision"),
        [row for _, row in rows[:CLASSES]],
    )


def compare(
    before: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.")],
    after: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of another run.")],
    as_json: AsJson = False,
) -> None:
    """Say what changed between two runs: answers, confidence, settings.

    Example: [bold]unseen compare monday tuesday[/bold]
    """
    from dataclasses import asdict

    from unseen.evaluate import compare_runs

    found = asdict(compare_runs(before, after))
    if as_json:
        print_json(found)
        return
    about = [
        (f"{key.replace('_', ' ')}{' in both' if key == 'nodes' else ''}", number(value))
        for key, value in found.items()
        if isinstance(value, int | float | None)
    ]
    gone, new = found["only_before"], found["only_after"]
    about += [("removed nodes", str(len(gone))), ("added nodes", str(len(new)))]
    print_table("Runs", ("", ""), about)
    for what, ids in (("Removed", gone), ("Added", new)):
        if ids:
            more = f" and {len(ids) - SOME:,} more" if len(ids) > SOME else ""
            say(f"{what}: {', '.join(ids[:SOME])}{more}")
    for key, value in found.items():
        if isinstance(value, dict) and value:
            changes = [
                (name.replace(".", ", "), f"{plain(a)} -> {plain(b)}")
                for name, (a, b) in value.items()
                if ".candidates." not in name  # figures that differ from run to run
            ]
            if changes:
                print_table(key.replace("_", " ").capitalize(), ("setting", "change"), changes)
        elif isinstance(value, list | tuple) and value and isinstance(value[0], dict):
            columns = tuple(value[0])
            rows = [tuple(number(row[c]) for c in columns) for row in value[:15]]
            heads = tuple(name.replace("_", " ") for name in columns)
            print_table(key.replace("_", " ").capitalize(), heads, rows)


def csd(
    class_file: ClassFile,
    encoder: EncoderName = "static",
    device: DeviceOption = Device.cpu,
    nodes: Annotated[
        Path | None, typer.Option(help="Labelled nodes to measure quality on: id, text, label.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the vectors here (.safetensors).")] = None,
    texts: Annotated[
        str | None, typer.Option(help="wikipedia: fill in missing descriptions with articles.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make class semantic descriptions (vectors of class texts) and compare them.

    Example: [bold]unseen csd --classes classes.csv[/bold]

    With labelled --nodes, their quality is measured by Eq. 1-3 of the paper.
    """
    from unseen.csd.compare import compare_csds
    from unseen.io.read import read_classes

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

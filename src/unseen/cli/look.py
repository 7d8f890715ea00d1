"""Commands that look at a graph or a run: `unseen check` and `suggest`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import number, print_json, print_table, progress_bar, say
from unseen.cli.given import refuse
from unseen.cli.graph import columns_of
from unseen.cli.options import (
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
    LabelFile,
    Nodes,
    Seed,
    SourceColumn,
    Spreadsheet,
    TargetColumn,
    TextColumns,
    Vocabulary,
)

RANKED = 15  # classes of a table


def check(
    nodes: Nodes,
    class_file: ClassFile,
    edges: Edges = None,
    labels: LabelFile = None,
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
    """Check the inputs before a run: counts, repairs, likely problems, class texts to improve.

    Example: [bold]unseen check --nodes nodes.csv --edges edges.csv --classes classes.csv[/bold]
    """
    from unseen.check import check as run
    from unseen.io.read import read_inputs

    columns = columns_of(id_column, text_columns, label_column, source_column, target_column)
    graph, classes, known = read_inputs(
        nodes,
        edges,
        class_file,
        labels=labels,
        features=features,
        vocabulary=vocabulary,
        directed=directed,
        **columns,
    )
    with progress_bar(as_json) as progress:
        found = run(
            graph,
            classes,
            known,
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
        print_table(title, ("", ""), _plain(found[key]))
    print_table("Classes", ("class", "labelled nodes"), list(found["classes"].items()))
    quality = [(kind, *values.values()) for kind, values in found["csd_quality"].items()]
    if quality:
        print_table(
            "CSD quality (Eq. 1-3)", ("class text", "KL ↓", "cosine ↑", "Euclidean ↓"), quality
        )
    if "homophily" in found and found["graph"]["edges"]:
        print_table("Edge homophily, estimated", ("", ""), _plain(found["homophily"]))
    ranked = found.get("told_apart", [])
    if len(ranked) > 1:
        print_table(
            "Class texts, the one to improve first on top",
            ("class", "told apart", "most like", "words"),
            [
                (row["class"], number(row["told_apart"]), row["confused_with"], row["words"])
                for row in ranked[:RANKED]
            ],
        )
        say(
            f"told apart: 1 where texts alone leave no doubt, {1 / len(ranked):.2f} where they say "
            "nothing. Write in the text on top what belongs to it and not to the class it is most "
            "like."
        )
    say("Likely problems:" if found["problems"] else "No problems found.")
    for problem in found["problems"]:
        say(f"  - {problem}")


def _plain(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    """Return names and values as people write them."""

    def said(value: Any) -> Any:
        if isinstance(value, bool):
            return "yes" if value else "no"
        return ", ".join(map(str, value)) or "none" if isinstance(value, list) else value

    known = {"described_by": "encoder"}
    return [(known.get(name, name.replace("_", " ")), said(value)) for name, value in facts.items()]


def suggest(
    run: Annotated[Path, typer.Option(help="Folder of a run.")],
    count: Annotated[int, typer.Option(help="How many nodes you can label.", min=1)] = 50,
    errors: Annotated[
        bool, typer.Option("--errors", help="Name those most likely wrong instead.", metavar="")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write them to this .csv: id, label, confidence, text.")
    ] = None,
    seed: Seed = 0,
    spreadsheet: Spreadsheet = False,
    as_json: AsJson = False,
) -> None:
    """Name the nodes whose labels would teach most.

    Example: [bold]unseen suggest --run run --count 50 --out to_label.csv[/bold]

    Correct the column label of to_label.csv and classify again with --labels to_label.csv.
    """
    from unseen.core.escape import without_formulas
    from unseen.io.atomic import check_file, replacing
    from unseen.io.files import write_text
    from unseen.suggestions import suggest_of

    if errors:
        refuse(("seed",), "nothing is drawn where the doubtful are named; leave --errors out")
    if out is None:
        refuse(("spreadsheet",), "is about the .csv; name it with --out")
    else:
        check_file(out, ".csv")
    with progress_bar(as_json) as progress:
        found = suggest_of(run, count, errors, seed, progress)
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

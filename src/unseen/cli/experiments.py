"""Commands that bring their own data: `unseen demo` and `unseen reproduce`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from unseen.cli.console import print_json, print_table, progress_bar, say
from unseen.cli.given import refuse
from unseen.cli.options import AsJson, Seed

RUNS = ("table3", "table4", "table5", "ablation", "sensitivity", "switches")  # of methods
SPEAK_TO = {  # option of `reproduce` -> experiments to which it says something, all beside these
    "methods": ("search", "table3", "table4", "table5", "ablation"),
    "seeds": (*RUNS, "table6"),
    "slow_seeds": RUNS,
    "quick": (*RUNS, "search", "table6", "cost"),
    "trials": ("search",),
    "jobs": (*RUNS, "search", "table6"),
    "address": (*RUNS, "search", "table6"),
}


def demo(
    out: Annotated[Path, typer.Option(help="Folder of the run.")] = Path("unseen-demo"),
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Classify a graph that needs no files: Python's standard library, eight sections unlabelled.

    Takes about half a minute, and writes a run with a report to look at.
    """
    from unseen.demo import demonstrate
    from unseen.io.atomic import check_place

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
    say(
        "text only and text + graph learn nothing: they compare the encoder's vectors, as they are "
        "or averaged over five hops, with class texts. The tables of the documentation average "
        "three hops, so their figures differ."
    )
    say(f"Report: {out / 'report.html'}")


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="data, table1, decomposition, search, table3, table4, table5, table6, ablation, "
            "sensitivity, switches, cost, or all."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(help="Folder of the records. Runs that are recorded there are not repeated."),
    ] = Path("unseen-paper"),
    methods: Annotated[
        str | None,
        typer.Option(
            help="Rows to run, such as dgpn,eszsl,random. A model of your own is "
            "package.module:Class."
        ),
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Runs of each cell. Without it 10, and 3 for slow methods."),
    ] = None,
    slow_seeds: Annotated[
        int | None, typer.Option(min=1, help="The same for slow methods.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Two runs, and a tenth of each training.")
    ] = False,
    trials: Annotated[int, typer.Option(min=1, help="Trials of each search.")] = 60,
    jobs: Annotated[int, typer.Option(min=0, max=256, help="Processes; 0: one per core.")] = 0,
    address: Annotated[
        str | None,
        typer.Option(help="Address of a Ray cluster to run on.", show_default="processes, --jobs"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a table or figure of the paper again, beside the published one.

    Example: [bold]unseen reproduce table3 --methods dgpn,eszsl,random --seeds 2[/bold]

    Repeat the command after an interruption: finished runs are not repeated.
    """
    from unseen.paper.plan import Plan
    from unseen.paper.reproduce import EXPERIMENTS, command_line
    from unseen.paper.reproduce import reproduce as run

    for option, experiments in SPEAK_TO.items():
        if name in EXPERIMENTS and name not in experiments:
            refuse((option,), f"says nothing to {name}; it is for {', '.join(experiments)} or all")
    if address is not None:
        refuse(("jobs",), "is about processes of this machine, and --address about a cluster")
    rows = None if methods is None else tuple(part.strip() for part in methods.split(","))
    more = {"trials": trials} if trials != Plan.trials else {}
    given = {"methods": methods, "seeds": seeds, "slow-seeds": slow_seeds, "quick": quick}
    command = command_line(name, **given, **more)
    with progress_bar(as_json) as progress:
        plan = Plan(seeds, rows, quick, trials=trials, slow_seeds=slow_seeds)
        try:
            reports = run(name, plan, out, progress, jobs, command, address)
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

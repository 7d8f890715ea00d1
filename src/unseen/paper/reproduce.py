"""`unseen reproduce NAME`: run what is missing of a table or figure, then print and draw it."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.core.errors import InputError, MissingDataError, require
from unseen.datasets.citation import data_folder
from unseen.io.atomic import replacing, write_json
from unseen.paper import choosing
from unseen.paper.data import TITLES, absent
from unseen.paper.ledger import Ledger, versions
from unseen.paper.plan import CHOSEN, Plan, read_chosen
from unseen.paper.work import work

if TYPE_CHECKING:
    from unseen.encode.base import Progress
    from unseen.paper.sheet import Sheet
    from unseen.paper.trial import Trial

EXPERIMENTS = {
    "data": "Tables 2, 7 and 9: the data sets, their classes and splits",
    "table1": "Table 1: quality of the class vectors (Eq. 1-3)",
    "decomposition": "Eq. 9-16: each decomposition against the product it stands for",
    "search": "settings of Class Split II, chosen on validation classes (Table 8)",
    "table3": "Table 3: zero-shot accuracy of every method, both class splits",
    "table4": "Table 4: the same with LABEL-CSDs",
    "table5": "Table 5: the adjacency matrix as attributes",
    "table6": "Table 6: standard node classification, GCN against the decomposition",
    "ablation": "the ablation figure",
    "sensitivity": "the figure of K and beta",
    "switches": "what each difference between the paper and its code does",
    "cost": "measured cost against K, |E| and d",
}
WITHOUT_DATA = ("cost",)  # experiments on graphs that are drawn
MODULES = {"search": "choosing"}  # where it is not called as the experiment is


@dataclass(frozen=True)
class Report:
    """What came out of an experiment, and where it was written."""

    name: str
    sheets: list[Sheet]
    files: list[Path]


def reproduce(
    name: str,
    plan: Plan,
    out: Path,
    progress: Progress | None = None,
    jobs: int = 0,
    command: str = "",
    address: str | None = None,
) -> list[Report]:
    """Run what is missing, write records and pictures to `out`, and return the tables.

    Args:
        name: a key of EXPERIMENTS, or "all".
        plan: how many runs of which methods.
        out: a folder; runs that lie in it are not repeated.
        progress: as in `encode`.
        jobs: processes, 0 = one for each core.
        command: how a user makes the record again.
        address: of a Ray cluster to run on.
    """
    progress = progress or (lambda what, done, total: None)
    if name != "all" and name not in EXPERIMENTS:
        raise InputError(
            f"there is nothing called {name!r} to reproduce; there is {', '.join(EXPERIMENTS)}, all"
        )
    names = [name] if name != "all" else list(EXPERIMENTS)
    if name == "all" and plan.quick:
        names.remove("search")  # quick runs take the settings that ship
    if any(each not in WITHOUT_DATA for each in names) and all(map(absent, TITLES)):
        raise MissingDataError(
            f"data: none of the paper's graphs lies in {data_folder()}; run `unseen datasets get` "
            f"with {', '.join(TITLES)} and csds, or set UNSEEN_DATA to a folder that has them"
        )
    every = {each: _module(each) for each in names}
    if any(hasattr(module, "draw") for module in every.values()):
        require("matplotlib", "paper", "drawing figures")
    ledger = Ledger(out)
    done = _Progress(progress)
    if "search" in names:
        streams = choosing.streams(plan)
        done.total = len(streams) * (plan.trials + min(plan.trials, choosing.LOOKED))
        work(streams, ledger, done, jobs, address=address)
        with replacing(out / CHOSEN) as new:
            found = {**read_chosen(out, shipped=False), **choosing.chosen(plan, ledger)}
            new.write_text(choosing.as_json(found), "utf-8")
    plan = replace(plan, chosen=read_chosen(out))
    cells = {
        each: list(module.cells(plan).values()) if hasattr(module, "cells") else []
        for each, module in every.items()
    }
    done.done, done.total = 0, sum(len(cell.trials) for some in cells.values() for cell in some)
    reports = []
    for each, module in every.items():
        if cells[each]:
            asked = [cell.stream() for cell in cells[each]]
            work(asked, ledger, done, jobs, address=address)
        progress(f"write {each}", done.done, max(done.total, 1))
        sheets = module.sheets(plan, ledger)
        drawn: list[Path] = module.draw(plan, ledger, out) if hasattr(module, "draw") else []
        runs = [ledger[trial] for cell in cells[each] for trial in cell.trials]
        record = {
            "experiment": each,
            "command": command or f"unseen reproduce {each}",
            "plan": plan.asked(),
            "versions": versions(),
            "seconds of all runs": round(sum(outcome.get("seconds", 0) for outcome in runs), 1),
            "sheets": [asdict(sheet) for sheet in sheets],
        }
        with replacing(out / f"{each}.json") as new:
            write_json(new, record)
        reports.append(Report(each, sheets, [out / f"{each}.json", *drawn]))
    return reports


class _Progress:
    """Tells a user what was done last and how much is left."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.done = self.total = 0

    def __call__(self, trial: Trial) -> None:
        self.done += 1
        words = f"{trial.method} on {trial.data} {trial.split}"
        self.progress(words, self.done, max(self.total, self.done))


def command_line(name: str, **options: Any) -> str:
    """Return the command that makes a record again."""
    words = ["unseen", "reproduce", name]
    for option, value in options.items():
        if value is True:
            words.append(f"--{option}")
        elif value:
            words += [f"--{option}", str(value)]
    return shlex.join(words)


def _module(name: str) -> Any:
    return import_module(f"unseen.paper.{MODULES.get(name, name)}")

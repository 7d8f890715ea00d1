"""From files to a run folder, on the engine that suits their size. What `unseen classify` does.

On disk everything under way lies in ``RUN.work`` beside the run: read, encoded, prepared, fitted,
answered, each whole or not there. A run that was killed goes on when the command is repeated; the
folder is removed when the run is in its place.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.abstain import check_abstain
from unseen.core.classes import Classes
from unseen.core.errors import InputError
from unseen.engines.plan import Plan, plan_files, readable_size
from unseen.engines.stored_graph import store_graph
from unseen.estimator import ZeroShotNodeClassifier
from unseen.io.atomic import check_place, read_json, recover, replacing, write_json
from unseen.io.locks import Lock
from unseen.io.read import read_classes, read_inputs, with_table
from unseen.io.roles import Roles, check_edges_named
from unseen.io.saved import sha256
from unseen.io.tables import files_of, read_table
from unseen.io.workspace import remove
from unseen.run import NO_SHEET

if TYPE_CHECKING:
    from unseen.encode.base import Progress
    from unseen.prediction import Prediction

ASKED, LOCK = "asked.json", "lock"  # of a run that is under way on disk


def plan_run(
    nodes: Path | str,
    edges: Path | str | None,
    classes: Classes,
    *,
    engine: str = "auto",
    memory: str | int | None = None,
    features: Path | str | None = None,
) -> Plan:
    """Return how a run would be made, and of what size."""
    found = plan_files(nodes, edges, len(classes), engine, memory)
    if features is not None and found.engine != "memory":
        if engine != "auto":
            raise InputError(
                f"engine: {engine!r} reads nodes by their texts, but a features file is given; "
                "use --engine memory"
            )
        found = plan_files(nodes, edges, found.classes, "memory", memory)
    return found


def classify_files(
    nodes: Path | str,
    edges: Path | str | None,
    classes: Path | str | Classes,
    out: Path | str,
    *,
    plan: Plan | None = None,
    settings: dict[str, Any] | None = None,
    reading: dict[str, Any] | None = None,
    top: int = 0,
    spreadsheet: bool = False,
    report: bool = True,
    progress: Progress | None = None,
) -> Prediction:
    """Answer the unlabelled nodes of files and write the run; return the answers.

    Args:
        nodes, edges, classes: files; nodes and edges may be folders or patterns of parts.
        out: folder of the run.
        plan: of `plan_run`; without one, memory where it suffices, else disk.
        settings: of `ZeroShotNodeClassifier`.
        reading: of `read_inputs`.
        top: how many of the best classes get columns of their own.
        spreadsheet: make cells of predictions.csv harmless that a spreadsheet would compute.
        report: write report.html as well.
        progress: called with what is being done, how much is done, and of how much.
    """
    out, reading = Path(out), dict(reading or {})
    settings = dict(settings or {})
    beside = (reading.get(name) for name in ("labels", "features", "vocabulary"))
    check_place(out, nodes, edges, *beside)
    among = classes if isinstance(classes, Classes) else read_classes(classes)
    chosen = plan or plan_run(nodes, edges, among, features=reading.get("features"))
    check_asked(chosen, edges, among, settings, reading, spreadsheet)
    own: dict[str, Any] = {"engine": chosen.engine, "memory": chosen.memory, "progress": progress}
    classifier = ZeroShotNodeClassifier(**settings, **own)
    with ExitStack() as held:
        if chosen.engine == "memory":
            given = read_inputs(nodes, edges, among, **reading)
            found = classifier.fit(*given).prediction_
        else:
            found = _on_disk(classifier, nodes, edges, among, out, reading, chosen, held)
        if progress is not None:
            progress("write the run", 0, 1)
        found.save(out, top, spreadsheet, report=report)
    return found


def _on_disk(
    classifier: ZeroShotNodeClassifier,
    nodes: Path | str,
    edges: Path | str | None,
    classes: Classes,
    out: Path,
    reading: dict[str, Any],
    chosen: Plan,
    held: ExitStack,
) -> Prediction:
    work, roles = work_folder(out), _roles(reading)
    try:
        str(work).encode()
    except UnicodeEncodeError:
        raise InputError(
            f"{out}: is not UTF-8, as a run on disk needs it; choose another"
        ) from None
    directed = bool(reading.get("directed", False))
    given = [each for each in (nodes, edges) if each is not None]
    files = [path for each in given for path in files_of(each)]
    label_file = reading.get("labels")
    labelled = None if label_file is None else read_table(label_file)
    asked = {
        "unseen": version("unseen"),
        "files": [[str(path), sha256(path)] for path in files],
        "labels": None if label_file is None else sha256(Path(label_file)),
        "classes": _digest([list(classes.names), list(classes.descriptions or ())]),
        "settings": {
            name: value if isinstance(value, str | int | float | bool | None) else repr(value)
            for name, value in classifier.get_params().items()
            if name in ("encoder", "among", "abstain", "open_world", "model", "device", "seed")
        },
        "columns": _digest([roles.id, list(roles.texts), roles.label, roles.source, roles.target]),
        "directed": directed,
        "engine": chosen.engine,  # each has blocks of its own
    }
    fresh = _begin(work, asked, chosen)
    held.enter_context(Lock.alone(work / LOCK, "run"))
    try:
        graph, labels = store_graph(
            work,
            nodes,
            edges,
            classes,
            memory=chosen.memory,
            directed=directed,
            roles=roles,
            progress=classifier.progress,
            engine=chosen.engine,
            address=classifier.address,
        )
        if labelled is not None:
            labels = with_table(labels, labelled, graph.ids.column, classes)
        return classifier.fit(graph, classes, labels).prediction_
    except InputError:
        if fresh:  # what was made of input that is refused is of no use for a better one
            remove(work)
        raise


def check_asked(
    chosen: Plan,
    edges: Path | str | None,
    classes: Classes,
    settings: dict[str, Any],
    reading: dict[str, Any],
    spreadsheet: bool = False,
) -> None:
    """Refuse what cannot be, and what this engine would ignore, before anything is read."""
    check_abstain(settings.get("abstain"), classes, bool(settings.get("open_world")))
    check_edges_named(edges, _roles(reading), bool(reading.get("directed")))
    by = f"the run is made by {chosen.engine!r} ({chosen.why})"
    if settings.get("address") is not None and chosen.engine != "ray":
        raise InputError(
            f"address: is that of a Ray cluster, but {by}; give --engine ray, or leave the address "
            "out"
        )
    if reading.get("vocabulary") is not None and chosen.engine != "memory":
        raise InputError(
            f"vocabulary: {by}, which reads nodes by their texts; words of feature columns say "
            "nothing to it; leave the file out, or use --engine memory"
        )
    if spreadsheet and chosen.engine != "memory":
        raise InputError(f"spreadsheet: {by}, {NO_SHEET}")


def _roles(reading: dict[str, Any]) -> Roles:
    names = ("id_column", "text_columns", "label_column", "source_column", "target_column")
    return Roles(*(reading[name] for name in names)) if "id_column" in reading else Roles()


def work_folder(out: Path) -> Path:
    """Return where a run on disk keeps what is under way."""
    place = out.resolve()
    return place.with_name(f"{place.name}.work")


def _begin(work: Path, asked: dict[str, Any], chosen: Plan) -> bool:
    """Refuse to go on with another run, and to begin what there is no room for.

    Return whether the run was begun now.
    """
    recover(work)
    recover(work / ASKED)
    if (work / ASKED).is_file():
        found = read_json(work / ASKED)
        before = found if isinstance(found, dict) else {}
        changed = [name for name, value in asked.items() if before.get(name) != value]
        if changed:
            raise InputError(
                f"{work}: holds a run that was begun otherwise (what changed since: "
                f"{', '.join(changed)}); remove the folder to begin anew, or choose another --out"
            )
        return False
    if work.exists() and (not work.is_dir() or any(work.iterdir())):
        raise InputError(f"{work}: exists and holds no run that was begun; move it or choose --out")
    parent = next(path for path in work.parents if path.exists())
    free = shutil.disk_usage(parent).free
    if free < chosen.disk:
        raise InputError(
            f"{parent}: the run needs about {readable_size(chosen.disk)} of disk while it is made, "
            f"but {readable_size(free)} are free; make room there, or choose --out on another disk"
        )
    if chosen.memory < chosen.least:
        raise InputError(
            f"memory: {readable_size(chosen.memory)} are too few for {chosen.nodes:,} nodes; "
            f"give at least {-(-chosen.least // (1 << 20)):,} MB (--memory)"
        )
    work.mkdir(parents=True, exist_ok=True)
    with replacing(work / ASKED) as new:
        write_json(new, asked)
    return True


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()

"""The sections about what came out: headline, classes, hops, least certain nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from unseen.report.figures import BINS, confidence_counts
from unseen.report.palette import Look, no_class
from unseen.report.safe import count, duration, number, percent, text

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOW = 0.5  # a confidence below this is counted in the headline
LEAST_CERTAIN = 50
OPEN_CLASSES = 12  # rows shown at once; the others unfold


def certainty(predictions: pl.DataFrame) -> tuple[float | None, int]:
    """Return the mean confidence and how many nodes are below `LOW`."""
    values = predictions["confidence"].cast(pl.Float64).fill_nan(None)
    mean = values.mean()
    return (float(mean) if isinstance(mean, float) else None), int((values < LOW).sum())


def headline(record: dict[str, Any], predictions: pl.DataFrame) -> str:
    """Return what happened, in one plain sentence; not escaped."""
    classes = record["classes"]
    eligible = "classes"
    if record["settings"].get("among") == "unseen":
        classes = [entry for entry in classes if not entry["seen"]]
        eligible = "unseen classes"
    if predictions.is_empty():
        return "Every node had a label already; nothing was left to predict"
    mean, low = certainty(predictions)
    none = record.get("abstained", 0)
    nodes = count(predictions.height - none, "node")
    others = f", {none:,} none of these" if none else ""
    return (
        f"{nodes} got one of {len(classes):,} {eligible}{others}; "
        f"mean confidence {number(mean)}; {low:,} below {LOW}"
    )


def figures_in_short(record: dict[str, Any], predictions: pl.DataFrame) -> str:
    """Return the row of key figures."""
    mean, low = certainty(predictions)
    classes, graph = record["classes"], record["graph"]
    seen = sum(bool(entry["seen"]) for entry in classes)
    used = sum(entry["predicted"] > 0 for entry in classes)
    share = percent(low / predictions.height) if predictions.height else "0%"
    none, encoder = record.get("abstained", 0), record["settings"].get("encoder")
    of = f"of {graph['nodes']:,} in the graph" + (f"; {none:,} none of these" if none else "")
    cards = [
        (f"{predictions.height - none:,}", "nodes classified", of),
        (f"{len(classes):,}", "classes", f"{seen:,} with labels, {len(classes) - seen:,} unseen"),
        (number(mean), "mean confidence", f"{count(used, 'class', 'classes')} in use"),
        (f"{low:,}", f"below {LOW}", f"{share} of the predictions"),
        (
            f"{graph['labelled']:,}",
            "labels given",
            f"{count(graph['edges'], 'edge')} between nodes",
        ),
        (
            duration(record["seconds"]),
            "to classify",
            f"encoder {encoder}",
        ),
    ]
    return "".join(
        f'<div class="card"><b>{text(value)}</b><span>{text(what)}</span>'
        f"<small>{text(more)}</small></div>"
        for value, what, more in cards
    )


def mark(look: Look, hollow: bool = False) -> str:
    """Return the small sign of a class, in its colour and shape."""
    kind = f"mark {look.shape}" + (" hollow" if hollow else "")
    return f'<i class="{kind}" style="--c:{look.colour}"></i>'


def legend(record: dict[str, Any], looks: Sequence[Look]) -> str:
    """Return a button for each class, which shows or hides its nodes on the map."""
    counts = {e["name"]: e["predicted"] + e["labelled"] for e in record["classes"]}
    none = record.get("abstained", 0)
    if none:
        other = no_class(looks)
        looks, counts = [*looks, other], {**counts, other.name: none}
    return "".join(
        f'<button type="button" aria-pressed="true" data-rank="{look.rank}" '
        f'title="{text(look.name)}">{mark(look)}<span>{text(look.name)}</span>'
        f"<small>{counts[look.name]:,}</small></button>"
        for look in looks
    )


def class_rows(
    record: dict[str, Any], predictions: pl.DataFrame, looks: Sequence[Look], listed: bool = False
) -> str:
    """Return one row a class, and one for none of them: who, how many nodes, how confident.

    `listed`: the page has an index of all nodes, so that each row can lead to its nodes.
    """
    entries = {entry["name"]: entry for entry in record["classes"]}
    groups = predictions.select("label", "confidence").partition_by("label", as_dict=True)
    none = record.get("abstained", 0)
    most = max(none, 1, *(e["predicted"] + e["labelled"] for e in entries.values()))
    rows = [_class_row(k, entries[k.name], groups.get((k.name,)), most, listed) for k in looks]
    page = _unfold(rows, "class", "classes")
    if none:
        other = no_class(looks)
        doubtful = groups[(other.name,)]
        entry = {
            "description": _why_none(record),
            "predicted": none,
            "labelled": 0,
            "confidence": doubtful["confidence"].mean(),
        }
        page += _class_row(other, entry, doubtful, most)
    return page


def _why_none(record: dict[str, Any]) -> str:
    """Return why some nodes are none of the classes."""
    settings, outside = record["settings"], len(record.get("outsiders", ()))
    said = []
    if settings.get("abstain") is not None:
        said.append(f"Their confidence is below {settings['abstain']:g}.")
    if settings.get("open_world"):
        said.append("They fit no class well.")
    if outside:
        said.append(f"People said so of {count(outside, 'node')}.")
    return " ".join(said)


def _class_row(
    look: Look,
    entry: dict[str, Any],
    group: pl.DataFrame | None,
    most: int,
    listed: bool = False,
) -> str:
    counts = None if group is None else confidence_counts(group["confidence"])
    badge = ""
    if "seen" in entry:
        kind = "labelled" if entry["seen"] else "unseen"
        badge = f'<span class="badge {kind}">{kind}</span>'
    about = f"<p>{text(entry['description'])}</p>" if entry["description"] else ""
    widths = [100 * entry[key] / most for key in ("predicted", "labelled")]
    given = f" <em>+ {entry['labelled']:,} given</em>" if entry["labelled"] else ""
    way = ""
    if listed:
        way = f'<button type="button" class="to-list" data-list="{look.rank}">list</button>'
    return (
        f'<div class="class-row" style="--c:{look.colour}">'
        f'<div class="who"><h4>{mark(look)}<span>{text(look.name)}</span>'
        f"{badge}</h4>{about}</div>"
        f'<div class="many"><div class="bar"><i style="width:{widths[0]:.2f}%"></i>'
        f'<i class="given" style="width:{widths[1]:.2f}%"></i></div>'
        f"<small><b>{entry['predicted']:,}</b> predicted{given}</small>{way}</div>"
        f'<div class="spread">{_spark(counts)}</div>'
        f'<div class="mean">{number(entry["confidence"])}</div></div>'
    )


def _spark(counts: NDArray[np.int64] | None) -> str:
    """Return a histogram as a small picture; a bin with few nodes still shows."""
    if counts is None or not counts.any():
        return '<small class="none">no predictions</small>'
    heights = np.where(counts > 0, np.maximum(counts / counts.max() * 30, 2.0), 0.0)
    bars = "".join(
        f'<rect x="{i * 5 + 0.4:g}" y="{30 - h:.1f}" width="4.2" height="{h:.1f}"/>'
        for i, h in enumerate(heights)
        if h
    )
    return (
        f'<svg viewBox="0 0 {5 * BINS} 30" preserveAspectRatio="none" role="img" '
        f'aria-label="Distribution of confidence from 0 to 1">'
        f'<line x1="{2.5 * BINS}" x2="{2.5 * BINS}" y1="0" y2="30"/>{bars}</svg>'
    )


def _unfold(rows: Sequence[str], one: str, many: str) -> str:
    rest = len(rows) - OPEN_CLASSES
    if rest <= 0:
        return "".join(rows)
    return (
        "".join(rows[:OPEN_CLASSES])
        + f"<details><summary>{count(rest, f'more {one}', f'more {many}')}</summary>"
        + "".join(rows[OPEN_CLASSES:])
        + "</details>"
    )


def hop_rows(record: dict[str, Any], looks: Sequence[Look]) -> str:
    """Return how much each distance counted, overall and for each class."""
    hops = record["hop_share"]["hops"]
    if len(hops) <= 1:
        return f'<p class="note">The graph was not used: {text(_why_no_graph(record))}.</p>'
    keys = "".join(
        f'<span><i class="hop" style="--k:{_depth(k, len(hops))}"></i>{_hop_name(k)} '
        f"<b>{percent(share)}</b></span>"
        for k, share in enumerate(hops)
    )
    by_class = record["hop_share"].get("by_class") or {}
    rows = [
        f'<div class="hop-row"><span>{mark(look)}<span title="{text(look.name)}">'
        f"{text(look.name)}</span></span>{_stack(by_class[look.name])}</div>"
        for look in looks
        if by_class.get(look.name)
    ]
    return (
        f'<div class="hop-all">{_stack(hops)}<div class="keys">{keys}</div></div>'
        f'<div class="hop-rows">{_unfold(rows, "class", "classes")}</div>'
    )


def _why_no_graph(record: dict[str, Any]) -> str:
    homophily = record.get("homophily") or record.get("agreement") or {}
    if record["graph"]["edges"] == 0:
        return "it has no edges, so each node was classified by its own text"
    if not homophily or homophily.get("used"):
        return "each node was classified by its own text alone"
    if not homophily["measured"] and homophily["information"] < homophily["control"]:
        return (
            f"neighbours say less about each other ({number(homophily['information'])}) than "
            f"unconnected nodes with similar texts do ({number(homophily['control'])}), so edges "
            "would mislead"
        )
    return f"neighbours hardly agree about their class (homophily {number(homophily['level'])})"


def _hop_name(k: int) -> str:
    return "own text" if k == 0 else f"{k} hop" + ("s away" if k > 1 else " away")


def _depth(k: int, hops: int) -> str:
    """Return how light the colour of a hop is, in percent: far hops are pale."""
    return f"{100 - 80 * k / max(hops - 1, 1):.0f}%"


def _stack(shares: Sequence[float]) -> str:
    """Return shares as one bar; what is negative has no width."""
    whole = [max(0.0, float(share)) for share in shares]
    total = sum(whole) or 1.0
    parts = "".join(
        f'<i style="width:{100 * share / total:.2f}%;--k:{_depth(k, len(whole))}" '
        f'title="{_hop_name(k)}: {text(percent(share))}"></i>'
        for k, share in enumerate(whole)
        if share > 0
    )
    return f'<div class="stack">{parts}</div>'


def least_certain(predictions: pl.DataFrame, looks: Sequence[Look]) -> str:
    """Return table rows of the least certain nodes, least certain first."""
    signs = {look.name: mark(look) for look in looks}
    shown = (
        predictions.with_columns(pl.col("confidence").cast(pl.Float64).fill_nan(None))
        .sort("confidence", nulls_last=True, maintain_order=True)
        .head(LEAST_CERTAIN)
    )
    return "".join(
        f'<tr><td data-name="node" class="id">{text(row["id"])}</td>'
        f'<td data-name="class">{_signed(row["label"], signs)}</td>'
        f'<td data-name="runner-up">{_signed(row["runner_up"], signs)}</td>'
        f'<td data-name="confidence" class="figure">{number(row["confidence"])}'
        f'<i class="level" style="width:{100 * (row["confidence"] or 0.0):.0f}%"></i></td>'
        f'<td data-name="reason" class="reason">{_signed(row["reason"], {})}'
        f"{_flags(row.get('flags'))}</td></tr>"
        for row in shown.iter_rows(named=True)
    )


def _flags(flags: str | None) -> str:
    """Return what deserves a look, as badges."""
    return "".join(
        f'<b class="badge">{text(flag)}</b>' for flag in (flags or "").split("; ") if flag
    )


def _signed(name: str | None, signs: dict[str, str]) -> str:
    return f"<span>{signs.get(name or '', '')}{text(name or '–')}</span>"

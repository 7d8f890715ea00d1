"""The sections about how it was done: choices, steps, graph, homophily, descriptions, settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from unseen.report.safe import count, duration, number, percent, text

CANDIDATES = 10  # shown for each choice
QUALITY = (  # key, name, which way is better
    ("kl", "KL divergence", "less is better; 0: just as alike"),
    ("cosine", "Cosine", "more is better; 1: just as alike"),
    ("euclidean", "Euclidean distance", "less is better; 0: just as alike"),
)
REPAIRS = (
    ("duplicate_edges", "duplicate edges merged"),
    ("self_loops", "self-loops removed"),
    ("isolated_nodes", "nodes without an edge"),
)


def warnings(record: dict[str, Any]) -> str:
    """Return the box of warnings, or nothing."""
    found = record.get("warnings") or []
    if not found:
        return ""
    items = "".join(f"<li>{text(warning)}</li>" for warning in found)
    return f'<section class="warnings" role="note"><h2>Mind this</h2><ul>{items}</ul></section>'


def csd_quality(record: dict[str, Any]) -> str:
    """Return how well the class descriptions mirror how the classes really relate."""
    quality = record.get("csd_quality")
    note = record.get("csd_quality_note")
    remark = f'<p class="note">{text(note)}</p>' if note else ""
    if not quality:
        return '<p class="note">The quality of the descriptions was not measured.</p>' + remark
    cards = "".join(
        f'<div class="card"><b>{number(quality[key], 3)}</b><span>{name}</span>'
        f"<small>{better}</small></div>"
        for key, name, better in QUALITY
    )
    meaning = (
        "Compared: how alike any two classes are by their descriptions, and how alike they are by "
        f"their nodes ({text(quality['basis'])}). This says nothing about how many answers are "
        "right: 0.99 is common."
    )
    return f'<p>{meaning}</p><div class="cards three">{cards}</div>{remark}'


def choices(record: dict[str, Any]) -> str:
    """Return what was chosen, by which rule and why, with the candidates as bars."""
    found = record.get("choices") or []
    if not found:
        return '<p class="note">Nothing had to be chosen.</p>'
    rows = "".join(
        f'<tr><td data-name="what"><b>{text(choice["what"])}</b></td>'
        f'<td data-name="chosen"><span class="badge chosen">{text(choice["chosen"])}</span></td>'
        f'<td data-name="candidates">{_candidates(choice)}</td>'
        f'<td data-name="why">{text(choice["why"])}'
        f"<small>Rule: {text(choice['rule'])}</small></td></tr>"
        for choice in found
    )
    heads = "".join(f"<th>{head}</th>" for head in ("What", "Chosen", "Candidates", "Why"))
    return (
        f'<div class="scroll"><table class="choices"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _candidates(choice: Mapping[str, Any]) -> str:
    scores = {str(name): value for name, value in (choice.get("candidates") or {}).items()}
    if not scores:
        return "–"
    values = [value for value in scores.values() if value is not None]
    low, high = min([0.0, *values]), max([0.0, *values])
    span = (high - low) or 1.0
    best_first = sorted(scores.items(), key=lambda pair: -(low if pair[1] is None else pair[1]))
    lines = "".join(
        f'<div class="candidate{" won" if name == str(choice["chosen"]) else ""}">'
        f'<span title="{text(name)}">{text(name)}</span>'
        f'<div class="bar"><i style="width:{100 * ((value or 0) - low) / span:.1f}%"></i></div>'
        f"<b>{number(value)}</b></div>"
        for name, value in best_first[:CANDIDATES]
    )
    rest = len(scores) - CANDIDATES
    return lines + (f"<small>and {rest} more</small>" if rest > 0 else "")


def steps(record: dict[str, Any]) -> str:
    """Return the steps in order, each with a bar as long as its share of the time."""
    found = record.get("steps") or []
    longest = max((step["seconds"] for step in found), default=0.0) or 1.0
    return "".join(
        f'<div class="step"><span><b>{text(step["step"])}</b>'
        f"<small>{text(step.get('detail') or '')}</small></span>"
        f'<div class="bar"><i style="width:{100 * step["seconds"] / longest:.1f}%"></i></div>'
        f"<em>{duration(step['seconds'])}</em></div>"
        for step in found
    )


def graph_facts(record: dict[str, Any]) -> str:
    """Return the size of the graph and what was mended in it."""
    graph = record["graph"]
    facts = [
        ("nodes", f"{graph['nodes']:,}"),
        ("edges", f"{graph['edges']:,}"),
        ("edges count", "one-way" if graph["directed"] else "both ways"),
        ("labels given", f"{graph['labelled']:,}"),
        ("without a label", f"{graph['unlabelled']:,}"),
    ]
    mended = [(what, f"{graph[key]:,}") for key, what in REPAIRS if graph[key]]
    nothing = "" if mended else '<p class="note">Nothing had to be repaired.</p>'
    return _pairs({**dict(facts), **dict(mended)}) + nothing


def homophily(record: dict[str, Any]) -> str:
    """Return whether neighbours tend to share a class, in words and as a bar."""
    found = record.get("homophily") or record.get("agreement")  # up to 0.8
    if not found or record["graph"]["edges"] == 0:
        return '<p class="note">Without edges there are no neighbours to compare.</p>'
    level = min(max(float(found["level"]), 0.0), 1.0)
    how = "counted on labelled edges" if found["measured"] else "estimated from the texts"
    used = "Neighbours were used." if found["used"] else "Neighbours were not used."
    versus = ""
    if not found["measured"]:
        versus = (
            f" An edge says {number(found['information'])} about the other end; unconnected nodes "
            f"with texts as similar say {number(found['control'])}."
        )
    return (
        f'<div class="gauge"><b>{percent(level)}</b><div class="bar">'
        f'<i style="width:{100 * level:.1f}%"></i></div></div>'
        f"<p>of edges join nodes of one class, beyond chance ({how}).{versus} <b>{used}</b></p>"
    )


def settings(record: dict[str, Any]) -> str:
    """Return the settings and the versions, folded."""
    return (
        f"<h3>Settings</h3>{_pairs(record['settings'])}"
        f"<h3>Versions</h3>{_pairs({'unseen': record['unseen'], **record['versions']})}"
    )


def made(record: dict[str, Any]) -> str:
    """Return when and with what the page was made; not escaped."""
    when = str(record["created"])[:16].replace("T", " ")
    graph = record["graph"]
    size = f"{count(graph['nodes'], 'node')}, {count(graph['edges'], 'edge')}"
    return f"{size} · {when} · unseen {record['unseen']}"


def _pairs(pairs: Mapping[str, Any]) -> str:
    items = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text('–' if value is None else value)}</dd></div>"
        for name, value in pairs.items()
    )
    return f"<dl>{items}</dl>"

"""The page: complete, offline, and deaf to whatever a class name or a text would like it to do."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from unseen.report.bundle import plotly_code
from unseen.report.page import render
from unseen.report.palette import looks
from unseen.report.safe import plotly_text, script_json, wrapped

EVIL = "<script>alert(1)</script>"


def _record(names: list[str], **changes: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(len(names), 6))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    record: dict[str, Any] = {
        "unseen": "0.1.0",
        "created": "2026-01-02T03:04:05+00:00",
        "seconds": 12.3,
        "settings": {"encoder": "static", "among": "all", "device": "cpu", "seed": 0},
        "versions": {"python": "3.12.1"},
        "graph": {
            **{"nodes": 30, "edges": 40, "directed": False, "labelled": 5, "unlabelled": 25},
            **{"isolated_nodes": 2, "duplicate_edges": 3, "self_loops": 0},
        },
        "classes": [
            {
                **{"name": name, "description": None, "seen": i == 0, "labelled": int(i == 0)},
                **{"predicted": i, "confidence": 0.5 if i else None},
            }
            for i, name in enumerate(names)
        ],
        "class_similarity": (vectors @ vectors.T).tolist(),
        "csd_quality": {"basis": "seen classes", "kl": 0.0123, "cosine": 0.9, "euclidean": 0.2},
        "csd_quality_note": "a note on quality",
        "choices": [
            {
                **{"what": "class texts", "chosen": "description", "why": "it agrees more."},
                **{"rule": "neighbour information", "candidates": {"name": 0.51, "text": 0.74}},
            }
        ],
        "steps": [{"step": "encode", "seconds": 1.2, "detail": "static, 256 dimensions"}],
        "homophily": {
            **{"level": 0.87, "information": 0.42, "control": 0.33},
            **{"measured": False, "used": True},
        },
        "hop_share": {"hops": [0.6, 0.4], "by_class": {name: [0.7, 0.3] for name in names}},
        "warnings": ["mind the gap"],
    }
    return record | changes


def _predictions(names: list[str], rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    which = rng.integers(0, len(names), rows)
    return pl.DataFrame(
        {
            "id": [f"node-{i}" for i in range(rows)],
            "label": [names[i] for i in which],
            "confidence": rng.permutation(np.linspace(0.0, 1.0, rows + 2)[1:-1]),
            "runner_up": [names[(i + 1) % len(names)] for i in which],
            "reason": [f"reason {i}" for i in range(rows)],
            "flags": ["text disagrees; close call" if i % 2 else "" for i in range(rows)],
        }
    )


def _map(predictions: pl.DataFrame, known: bool = True) -> pl.DataFrame:
    shown = predictions.head(2000)
    is_known = pl.Series([known and i % 3 == 0 for i in range(shown.height)], dtype=pl.Boolean)
    return shown.select(
        "id",
        pl.Series(np.linspace(-1, 1, shown.height)).alias("x"),
        pl.Series(np.linspace(1, -1, shown.height)).alias("y"),
        "label",
        pl.when(is_known).then(None).otherwise(pl.col("confidence")).alias("confidence"),
        is_known.alias("known"),
        (pl.col("reason") + " as a text").alias("text"),
    )


def _page(names: list[str], rows: int = 25, known: bool = True, **changes: Any) -> str:
    predictions = _predictions(names, rows)
    return render(_record(names, **changes), predictions, _map(predictions, known))


def _own(page: str) -> str:
    """The page without plotly's own code."""
    shell = page.replace(plotly_code(), "")
    assert len(shell) < len(page) - 1_000_000
    return shell


def _figure(page: str, name: str) -> Any:
    found = re.search(rf'<script type="application/json" id="{name}-data">(.*?)</script>', page)
    assert found is not None
    return json.loads(found[1])


def test_the_page_tells_everything() -> None:
    page = _own(_page(["cats", "dogs", "birds"]))
    for words in (
        "25 nodes got one of 3 classes; mean confidence 0.50; 12 below 0.5",
        *("mind the gap", "neighbour information", "it agrees more.", "a note on quality"),
        *("static, 256 dimensions", "duplicate edges merged", "0.012", "own text", "1 hop away"),
        *("How to read this page", "Neighbours were used.", "2026-01-02 03:04", "3.12.1"),
    ):
        assert words in page, words
    assert page.count('<tr><td data-name="node"') == 25
    assert page.count('<b class="badge">text disagrees</b><b class="badge">close call</b>') == 12


def test_quality_says_what_it_means_and_claims_no_accuracy() -> None:
    page = _own(_page(["cats", "dogs", "birds"]))
    assert "says nothing about how many answers are right" in page
    assert "perfect" not in page


def test_only_unseen_classes_in_the_headline_when_only_they_were_open() -> None:
    page = _page(["cats", "dogs", "birds"], settings={"encoder": "static", "among": "unseen"})
    assert "25 nodes got one of 2 unseen classes" in page


def test_nothing_is_loaded() -> None:
    page = _page(["cats", "dogs", "birds"])
    own = _own(page)
    assert page.count(plotly_code()) == 1
    assert "http://" not in own
    assert "https://" not in own
    for tag in ("<script src", "<link", "@import", "url(", "<iframe", "<img"):
        assert tag not in own, tag
    assert "default-src 'none'" in own
    assert "modeBarButtons: [[" in own  # a closed list: plotly's own has one that uploads the data


def test_only_the_two_scripts_of_the_page_may_run() -> None:
    own = _own(_page([EVIL, "dogs", "birds"]))
    policy = re.search(r"script-src ([^;]*);", own)
    assert policy is not None
    assert re.fullmatch(r"('sha256-[\w+/]+=' ?){2}", policy[1])
    assert len(re.findall(r"<script>", own)) == 2
    assert len(re.findall(r'<script type="application/json"', own)) == 4
    assert len(re.findall(r"</script", own)) == 6


def test_user_strings_are_escaped_everywhere() -> None:
    names = [EVIL, '"><img src=x onerror=alert(2)>', "R&D <b>bold</b>"]
    predictions = _predictions(names, 20).with_columns(
        pl.format("<i>{}</i>", "id").alias("id"), pl.format("{}", pl.lit(EVIL)).alias("reason")
    )
    record = _record(names, warnings=[EVIL], csd_quality_note=EVIL)
    record["classes"][0]["description"] = EVIL
    record["choices"][0] |= {"what": EVIL, "chosen": EVIL, "candidates": {EVIL: 1.0}}
    record["steps"][0] |= {"step": EVIL, "detail": EVIL}
    page = render(record, predictions, _map(predictions))
    own = _own(page)
    for raw in (EVIL, "<img src=x", "<b>bold", "<i>node"):
        assert raw not in own, raw
    assert html.escape(EVIL) in own
    for name in ("map", "similarity"):
        for string in _strings(_figure(page, name)):  # what plotly itself will read as HTML
            assert not re.search(r"<(?!/?(?:b|i|br|extra)>)", string), string
    texts = [text for trace in _figure(page, "map")["data"] for text in trace["text"]]
    assert any("&lt;i&gt;node-0&lt;/i&gt;" in text for text in texts)


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [string for entry in value.values() for string in _strings(entry)]
    if isinstance(value, list):
        return [string for entry in value for string in _strings(entry)]
    return [value] if isinstance(value, str) else []


def test_escapes_keep_the_meaning() -> None:
    data = {"a": "</script><!-- & \u2028 é"}
    safe = script_json(json.dumps(data, ensure_ascii=False))
    assert json.loads(safe) == data
    assert not set("<>&\u2028") & set(safe)
    assert plotly_text("a  <b>\n&") == "a &lt;b&gt; &amp;"
    assert wrapped("<b> " * 30, 20).count("<br>") > 3


@pytest.mark.parametrize("classes", [2, 3, 24, 200])
def test_every_class_has_its_name_and_looks(classes: int) -> None:
    names = [f"class {i} with a name that is rather long, {'x' * (i % 90)}" for i in range(classes)]
    page = _page(names, rows=500)
    own = _own(page)
    for name in names:
        assert own.count(html.escape(name)) >= 3  # legend, class list, hops
    shown = looks(_record(names)["classes"])
    pairs = {(look.colour, look.shape) for look in shown[:48]}
    assert len(pairs) == min(classes, 48)
    assert len({look.colour for look in shown}) == min(classes, 24)


def test_least_certain_nodes_come_first_and_in_order() -> None:
    names = ["cats", "dogs", "birds"]
    predictions = _predictions(names, 400)
    page = render(_record(names), predictions, _map(predictions))
    shown = re.findall(r'<tr><td data-name="node" class="id">([^<]*)</td>', page)
    assert shown == predictions.sort("confidence")["id"].head(50).to_list()


def test_known_nodes_look_different_on_the_map() -> None:
    figure = _figure(_page(["cats", "dogs", "birds"]), "map")
    for trace in figure["data"]:
        assert trace["marker"]["symbol"].endswith("-open") == trace["meta"]["known"]
        for text in trace["text"]:
            assert ("label given" in text) == trace["meta"]["known"]
    assert sum(len(trace["text"]) for trace in figure["data"]) == 25


def test_confidences_fall_into_their_bins() -> None:
    names = ["cats", "dogs", "birds"]
    predictions = _predictions(names, 5).with_columns(
        pl.Series("confidence", [0.0, 0.5, 0.6, 0.99, 1.0])
    )
    bars = _figure(render(_record(names), predictions, _map(predictions)), "confidence")["data"][0]
    assert [i for i, count in enumerate(bars["y"]) for _ in range(count)] == [0, 10, 12, 19, 19]


def test_no_graph_no_labels_no_quality() -> None:
    page = _page(
        ["cats", "dogs"],
        rows=1,
        known=False,
        csd_quality=None,
        csd_quality_note="needs three classes",
        hop_share={"hops": [1.0], "by_class": {}},
        homophily={
            **{"level": 0.3, "information": 0.1, "control": 0.2},
            **{"measured": False, "used": False},
        },
        choices=[],
        warnings=[],
        steps=[],
    )
    own = _own(page)
    assert "1 node got one of 2 classes" in own
    assert "The graph was not used: neighbours say less about each other (0.10)" in own
    assert "needs three classes" in own
    assert "Mind this" not in own
    assert 'data-known="true" hidden' in own


def test_why_the_graph_was_not_used() -> None:
    alone = {"hops": [1.0], "by_class": {}}
    record = _record(["cats", "dogs"], hop_share=alone)
    predictions = _predictions(["cats", "dogs"], 4)
    record["graph"]["edges"] = 0
    assert "not used: it has no edges" in render(record, predictions, _map(predictions))
    weak = {"level": 0.01, "information": 0.1, "control": 0.0, "measured": True, "used": False}
    page = _page(["cats", "dogs"], hop_share=alone, homophily=weak)
    assert "not used: neighbours hardly agree about their class (homophily 0.01)" in page


def test_a_record_of_an_earlier_version_is_read() -> None:
    record = _record(["cats", "dogs"])
    predictions = _predictions(["cats", "dogs"], 4)
    page = render(record, predictions, _map(predictions))
    record["agreement"] = record.pop("homophily")  # its name up to 0.8
    assert render(record, predictions, _map(predictions)) == page
    assert "<b>87%</b>" in page


def test_nothing_to_predict_and_nothing_on_the_map() -> None:
    names = ["cats", "dogs", "birds"]
    predictions = _predictions(names, 3)
    empty = predictions.clear()
    page = render(_record(names), empty, _map(predictions).clear())
    assert "nothing was left to predict" in page
    record = _record(names)
    holes = predictions.with_columns(
        pl.lit(None, pl.Float64).alias("confidence"), pl.lit(None, pl.String).alias("runner_up")
    )
    assert "mean confidence –" in render(record, holes, _map(holes))


def test_a_hundred_thousand_predictions_make_a_page_of_reasonable_size() -> None:
    names = [f"class {i}" for i in range(40)]
    page = _page(names, rows=100_000)
    assert len(page.encode()) < 8_000_000
    assert "100,000 nodes got one of 40 classes" in page


@pytest.mark.parametrize(
    ("settings", "outsiders", "said"),
    [
        ({"abstain": 0.4}, [], "Their confidence is below 0.4."),
        ({"abstain": None, "open_world": True}, [], "They fit no class well."),
        ({"abstain": None, "open_world": False}, ["node-0"], "People said so of 1 node."),
    ],
)
def test_why_nodes_are_none_of_the_classes_is_said(
    settings: dict[str, Any], outsiders: list[str], said: str
) -> None:
    names = ["a", "b"]
    record = _record(names, abstained=2, outsiders=outsiders)
    record["settings"] = record["settings"] | settings
    rows = _predictions(names, 12)
    label = ["none of these", "none of these", *rows["label"].to_list()[2:]]
    predictions = rows.with_columns(pl.Series("label", label))
    assert said in render(record, predictions, _map(predictions))

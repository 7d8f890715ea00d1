"""What is said about a node adds up, and what would change it was tried."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import polars as pl

from unseen.serve.answering import answer_texts, vectors_of
from unseen.serve.node_view import node_view
from unseen.serve.versions import Versions


def test_readings_are_parts_of_the_posterior(one_run: Path) -> None:
    versions = Versions(one_run)
    served = versions.load(1)
    for i in range(6, 60):
        view = node_view(served, versions.store, i, change=False)
        assert len(view["readings"]) >= 2
        np.testing.assert_allclose(
            view["score"], served.posterior[i, view["hops"]["class"]], atol=1e-6
        )


def test_hops_and_bias_are_the_score_of_the_diffusion(one_run: Path) -> None:
    versions = Versions(one_run)
    served = versions.load(1)
    Z, weights = np.load(served.arrays / "Z.npy"), served.reading(1, "weights")
    for i in range(6, 60):
        view = node_view(served, versions.store, i, change=False)
        linear = view["readings"][1]["linear"]
        total = sum(part["value"] for part in linear["parts"])
        np.testing.assert_allclose(total, linear["score"], atol=1e-6)
        np.testing.assert_allclose(total, Z[i] @ weights[view["hops"]["class"]], atol=1e-6)


def test_a_linear_model_is_explained_hop_by_hop(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / "prototype", tmp_path / "run")
    versions = Versions(tmp_path / "run")
    served = versions.load(1)
    Z = np.load(served.arrays / "Z.npy")
    for i in range(6, 40):
        view = node_view(served, versions.store, i, change=False)
        (reading,) = view["readings"]
        c = view["hops"]["class"]
        total = sum(part["value"] for part in reading["linear"]["parts"])
        np.testing.assert_allclose(total, Z[i] @ served.reading(0, "weights")[c], atol=1e-6)
        np.testing.assert_allclose(view["score"], served.posterior[i, c], atol=1e-6)


def test_hops_move_the_lead_from_nothing_to_what_it_is(run: Path) -> None:
    versions = Versions(run)
    served = versions.load(1)
    for i in range(6, 60):
        hops = node_view(served, versions.store, i, change=False)["hops"]
        a, b = hops["class"], hops["against"]
        p = served.posterior[i].astype(float)
        lead = np.log((p[a] + 1e-9) / (p[b] + 1e-9))
        np.testing.assert_allclose(sum(part["moved"] for part in hops["parts"]), lead, atol=2e-3)
        np.testing.assert_allclose(sum(part["share"] for part in hops["parts"]), 1)


def test_what_would_change_the_answer_does_change_it(run: Path) -> None:
    versions = Versions(run)
    served = versions.load(1)
    tried = 0
    for i in range(6, 120):
        view = node_view(served, versions.store, i, change=True)
        for need in view["change"]["needs"]:
            if need["what"] != "words":
                continue
            tried += 1
            text = view["text"]
            for lo, hi in reversed(need["spans"]):
                assert f"“{text[lo:hi]}”" in need["text"]
                text = text[:lo] + text[hi:]
            around, weights = served.neighbours(i)
            near = list(zip(around.tolist(), weights.tolist(), strict=True))
            found = answer_texts(served, vectors_of(served, [text]), [near])
            assert found.posterior[0].argmax() == view["change"]["runner_up"]
    assert tried > 0


def test_a_node_alone_and_a_node_without_text_have_a_view(run: Path) -> None:
    versions = Versions(run)
    served = versions.load(1)
    alone = node_view(served, versions.store, 11, change=True)
    assert alone["neighbours"] == []
    assert "no neighbours" in alone["reason"]
    silent = node_view(served, versions.store, 7, change=True)
    assert silent["words"] is None
    assert silent["title"] == silent["id"]


def test_flags_are_those_of_the_table(run: Path) -> None:
    versions = Versions(run)
    served = versions.load(1)
    table = pl.read_parquet(run / "predictions.parquet")
    told = dict(zip(table["id"], table["flags"], strict=True))
    for i in range(6, 60):
        view = node_view(served, versions.store, i, change=False)
        assert "; ".join(view["flags"]) == told[served.ids[i]]
    assert len(set(told.values())) > 2


def test_how_well_a_node_fits_is_said_in_an_open_world_only(one_run: Path) -> None:
    versions = Versions(one_run)
    served = versions.load(1)
    served.background = np.full(served.nodes, 0.99, dtype=np.float32)
    assert node_view(served, versions.store, 8, change=False)["background"] is None
    served.classifier.open_world = True
    assert node_view(served, versions.store, 8, change=False)["background"] == 0.99


def test_nodes_with_the_label_of_a_class_come_after_those_that_were_given_it(one_run: Path) -> None:
    served = Versions(one_run).load(1)
    for c in range(4):
        rows = served.members(c)
        answered, labelled = np.split(rows, [len(served.of_class(c))])
        assert (served.known[labelled] == 1).all()
        assert (served.label[rows] == c).all()
        assert len(rows) == (served.label == c).sum()
        assert served.members(c, "least").tolist() == [*answered[::-1], *labelled]

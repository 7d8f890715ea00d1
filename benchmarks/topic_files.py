"""A graph of any size as files: texts of a few words, forty classes, edges mostly within them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

DEGREE, WORDS, OWN, ALIKE = 10, 8, 1, 0.5  # edges a node, words, of them from its class, homophily
PORTION = 500_000  # nodes written at a time
TOPICS = {
    "astronomy": "stars planets telescope galaxy orbit comet",
    "biology": "cells genes organisms evolution species proteins",
    "chemistry": "molecules reaction acid polymer catalyst solvent",
    "physics": "particles energy quantum gravity field momentum",
    "geology": "rocks minerals volcano sediment earthquake fossil",
    "medicine": "patients disease treatment symptoms diagnosis therapy",
    "dentistry": "teeth gums enamel cavity crown orthodontic",
    "law": "court judge contract statute attorney verdict",
    "banking": "loans deposits interest credit account lender",
    "insurance": "policy premium claim coverage risk underwriter",
    "advertising": "brand campaign audience slogan commercial agency",
    "football": "goal striker referee penalty league midfield",
    "tennis": "racket serve court volley backhand tournament",
    "swimming": "pool stroke freestyle butterfly lap diving",
    "chess": "pawn bishop knight checkmate opening gambit",
    "sailing": "yacht mast rudder regatta wind harbour",
    "cooking": "recipe pan sauce onion roast garlic",
    "baking": "bread dough flour yeast pastry oven",
    "wine": "grapes vineyard vintage cellar tannin bottle",
    "gardening": "plants soil seeds pruning compost flowers",
    "farming": "crops tractor harvest livestock wheat barn",
    "painting": "canvas brush portrait pigment gallery watercolour",
    "sculpture": "marble statue carving bronze clay chisel",
    "theatre": "stage actor playwright drama rehearsal scene",
    "opera": "soprano aria libretto orchestra tenor overture",
    "jazz": "saxophone improvisation swing trumpet quartet rhythm",
    "poetry": "verse rhyme stanza poet sonnet metaphor",
    "religion": "church prayer faith scripture temple priest",
    "philosophy": "ethics logic metaphysics reason epistemology virtue",
    "psychology": "behaviour cognition emotion memory perception anxiety",
    "railways": "train locomotive track station carriage signal",
    "aviation": "aircraft pilot runway cockpit altitude airline",
    "shipping": "cargo container port freight vessel dock",
    "robotics": "robot actuator sensor gripper autonomous arm",
    "cryptography": "cipher key encryption hash signature protocol",
    "networking": "router packet bandwidth switch ethernet firewall",
    "databases": "query index transaction table schema relational",
    "compilers": "parser syntax optimisation bytecode lexer grammar",
    "photography": "camera lens exposure shutter aperture focus",
    "fashion": "dress fabric designer runway tailor silk",
}
FILLER = [
    *("new", "report", "people", "year", "first", "part", "long", "general", "work", "place"),
    *("known", "group", "side", "public", "small", "early", "number", "open", "local", "great"),
    *("common", "present", "later", "real", "main", "short", "final", "young", "level", "large"),
]


def write(folder: Path, nodes: int) -> NDArray[np.int64]:
    """Write nodes, edges and classes; return the class of each node."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, len(TOPICS), nodes)
    own = pl.Series([word for words in TOPICS.values() for word in words.split()])
    filler, each = pl.Series(FILLER), len(own) // len(TOPICS)
    (folder / "nodes").mkdir()
    (folder / "edges").mkdir()
    kin = np.argsort(truth, kind="stable")  # nodes class by class
    first = np.searchsorted(truth[kin], np.arange(len(TOPICS) + 1))
    for part, begin in enumerate(range(0, nodes, PORTION)):
        of = truth[begin : begin + PORTION]
        at = np.arange(begin, begin + len(of))
        words = [own.gather(each * of + rng.integers(0, each, len(of))) for _ in range(OWN)]
        words += [filler.gather(rng.integers(0, len(filler), len(of))) for _ in range(WORDS - OWN)]
        frame = pl.DataFrame({f"w{i}": column for i, column in enumerate(words)})
        texts = frame.select(pl.concat_str(pl.all(), separator=" ").alias("text"))["text"]
        ids = pl.Series("id", at).cast(pl.String)
        pl.DataFrame([("item-" + ids).rename("id"), texts]).write_parquet(
            folder / "nodes" / f"{part:03d}.parquet"
        )
        source = np.repeat(at, DEGREE)
        u = rng.random(len(source)) ** 2  # some are named much more often than others
        span = first[truth[source] + 1] - first[truth[source]]
        near = kin[first[truth[source]] + (u * span).astype(np.int64)]
        target = np.where(rng.random(len(source)) < ALIKE, near, (u * nodes).astype(np.int64))
        ends = {
            name: "item-" + pl.Series(name, end).cast(pl.String)
            for name, end in (("source", source), ("target", target))
        }
        pl.DataFrame(ends).write_parquet(folder / "edges" / f"{part:03d}.parquet")
    pl.DataFrame({"name": list(TOPICS), "description": list(TOPICS.values())}).write_csv(
        folder / "classes.csv"
    )
    return truth

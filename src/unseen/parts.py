"""Run folders of graphs on disk: the answers as partitioned Parquet, the report from a sample.

    run/  predictions/part-00000.parquet ..    id, label, confidence, runner_up, reason
          probabilities/part-00000.parquet ..  id, one column a class
          report.html  record.json  map.parquet  suggest.parquet  model/  manifest.json

The graph itself stays where it is. Parts that a killed run has finished are not written again.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from unseen.core.errors import InputError
from unseen.io.digests import DIGESTS, Digests
from unseen.io.files import write_parquet
from unseen.propagate.npy import full_disk

if TYPE_CHECKING:
    from unseen.prediction import Prediction

PART = 1 << 18  # nodes a file
STEP = 1 << 15  # nodes whose rows are formed together
SAMPLE = 20_000  # nodes that the report is made from
KINDS = ("predictions", "probabilities")


def write_parts(prediction: Prediction, work: Path, top: int = 0) -> None:
    """Write the parts that are missing to the folder of a run that is under way."""
    places = {kind: work / f"{kind}-{top}" if kind == KINDS[0] else work / kind for kind in KINDS}
    digests = {}
    for kind, place in places.items():
        place.mkdir(parents=True, exist_ok=True)
        digests[kind] = Digests(place)
    progress = prediction.classifier.progress
    with full_disk(work):
        for begin in range(0, max(len(prediction), 1), PART):
            end = min(begin + PART, len(prediction))
            name = f"part-{begin // PART:05d}.parquet"
            steps = [slice(at, min(at + STEP, end)) for at in range(begin, end, STEP)]
            for kind, place in places.items():
                if digests[kind].whole(place / name):
                    continue
                frames = [
                    prediction.to_polars(rows, top)
                    if kind == KINDS[0]
                    else prediction.probabilities(rows)
                    for rows in steps
                ]
                with digests[kind].writing(place / name) as new:
                    write_parquet(new, pl.concat(frames))
            if progress is not None:
                progress("write the run", end, len(prediction))


def move_parts(work: Path, new: Path, top: int = 0) -> None:
    """Move finished parts into a run that is being put together on the same disk."""
    for kind in KINDS:
        place = work / (f"{kind}-{top}" if kind == KINDS[0] else kind)
        if not place.is_dir():
            raise InputError(f"{place}: is gone; run the command again")
        shutil.move(place, new / kind)
        (new / kind / DIGESTS).unlink(missing_ok=True)  # the manifest of the run has them


def report_table(prediction: Prediction, top: int = 0, seed: int = 0) -> pl.DataFrame:
    """Return the rows that a report shows; the record says so where these are not all."""
    count = len(prediction)
    if count <= SAMPLE:
        return prediction.to_polars(top=top)
    rows = np.sort(np.random.default_rng(seed).choice(count, SAMPLE, replace=False))
    note = (
        f"Map, confidences and the table of this report are those of a sample of {SAMPLE:,} of "
        f"the {count:,} nodes; counts are of all. The answers are in predictions/."
    )
    prediction.record["warnings"].insert(0, note)
    return prediction.only(rows).to_polars(top=top)

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
from unseen.io.atomic import replacing
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
    for place in places.values():
        place.mkdir(parents=True, exist_ok=True)
        for left in place.glob(".part-*"):
            left.unlink()
    progress = prediction.classifier.progress
    with full_disk(work):
        for begin in range(0, max(len(prediction), 1), PART):
            end = min(begin + PART, len(prediction))
            name = f"part-{begin // PART:05d}.parquet"
            steps = [slice(at, min(at + STEP, end)) for at in range(begin, end, STEP)]
            for kind, place in places.items():
                if (place / name).exists():
                    continue
                frames = [
                    prediction.to_polars(rows, top)
                    if kind == KINDS[0]
                    else prediction.probabilities(rows)
                    for rows in steps
                ]
                with replacing(place / name) as new:
                    pl.concat(frames).write_parquet(new)
            if progress is not None:
                progress("write the run", end, len(prediction))


def move_parts(work: Path, new: Path, top: int = 0) -> None:
    """Move finished parts into a run that is being put together on the same disk."""
    for kind in KINDS:
        place = work / (f"{kind}-{top}" if kind == KINDS[0] else kind)
        if not place.is_dir():
            raise InputError(f"{place}: is gone; run the command again")
        shutil.move(place, new / kind)


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

"""How right answers without labels are, by how sure they are: the regression behind the default.

    python results/confidence.py

With r the mean confidence before any correction, C classes and the words of a class text, over the
no-label tasks of eleven graphs, the design set up to 0.12 (results/zoo.jsonl, `static`),

    logit(accuracy) = a + b logit(r) + c ln C + d min(words / 60, 1),

by least squares. `select/default.py` lowers confidences to it.
"""

from __future__ import annotations

import json

import numpy as np
from records import HERE, ZOO

from unseen.select.default import LONG_TEXT

GRAPHS = {
    *("computing", "icd10", "kanji", "motifs", "officehelp", "packages", "pokemon"),
    *("subdivisions", "symbols", "theorems", "webster"),
}


def coefficients() -> tuple[float, float, float, float]:
    """Return a, b, c and d, rounded as the default has them."""
    rows, rights = [], []
    for line in (HERE / ZOO).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        trial, found = record["trial"], record["outcome"]
        asked = trial["labels"] == "none" and trial["encoder"] == "static"
        if asked and trial["graph"] in GRAPHS:
            words = min(found["words of a class text"] / LONG_TEXT, 1)
            sure = _logit(found["uncorrected confidence"])
            rows.append((1.0, sure, np.log(found["classes"]), words))
            rights.append(_logit(found["defaults"]["accuracy"] / 100))
    fitted = np.linalg.lstsq(np.array(rows), np.array(rights), rcond=None)[0]
    a, b, c, d = (round(float(each), 2) for each in fitted)
    return a, b, c, d


def _logit(share: float) -> float:
    kept = float(np.clip(share, 0.02, 0.98))
    return float(np.log(kept / (1 - kept)))


if __name__ == "__main__":
    print(coefficients())

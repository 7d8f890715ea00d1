"""How right answers without labels are, by how sure they are: the regression behind the default.

    python results/confidence.py

With r the mean confidence before any correction, C classes, the words of a class text and kappa,
how well answers agree with held-out words, over the no-label tasks of the design graphs of the zoo
(results/zoo.jsonl, `static`),

    logit(accuracy) = a + b logit(r) + c ln C + d min(words / 60, 1) (+ f kappa),

by least squares. `select/default.py` lowers confidences to it.
"""

from __future__ import annotations

import json

import numpy as np
from graphs import catalogue
from records import HERE, ZOO

from unseen.select.default import LONG_TEXT


def coefficients(by_words: bool) -> tuple[float, ...]:
    """Return a, b, c and d, rounded as the default has them; and f, where kappa counts."""
    design, rows, rights = set(catalogue.names("design")), [], []
    for line in (HERE / ZOO).read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        trial, found = record["trial"], record["outcome"]
        asked = trial["labels"] == "none" and trial["encoder"] == "static"
        if asked and trial["graph"] in design:
            words = min(found["words of a class text"] / LONG_TEXT, 1)
            sure = _logit(found["uncorrected confidence"])
            kappa = [max(found["kappa"] or 0.0, 0.0)] if by_words else []
            rows.append((1.0, sure, np.log(found["classes"]), words, *kappa))
            rights.append(_logit(found["defaults"]["accuracy"] / 100))
    fitted = np.linalg.lstsq(np.array(rows), np.array(rights), rcond=None)[0]
    return tuple(round(float(each), 2) for each in fitted)


def _logit(share: float) -> float:
    kept = float(np.clip(share, 0.02, 0.98))
    return float(np.log(kept / (1 - kept)))


if __name__ == "__main__":
    print(coefficients(by_words=False), coefficients(by_words=True))

"""Comparison with the truth: the only room that sees labels of unseen classes.

Nothing that fits a model may import it; a test checks the imports.
"""

from unseen.evaluate.compare import Comparison, compare_runs
from unseen.evaluate.files import evaluate_files
from unseen.evaluate.metrics import Scores, score
from unseen.evaluate.protocol import all_splits, floor, generalised, hold_out

__all__ = [
    "Comparison",
    "Scores",
    "all_splits",
    "compare_runs",
    "evaluate_files",
    "floor",
    "generalised",
    "hold_out",
    "score",
]

from __future__ import annotations

import numpy as np

from planted import plant
from unseen.core.arrays import softmax
from unseen.engines.memory import MEMORY
from unseen.models.belief_propagation import weighted_means
from unseen.models.discriminant import precision_within


def test_the_covariance_is_that_within_weighted_classes() -> None:
    graph = plant(0.8, 2.0, nodes=150, width=12)
    X, w = graph.rows.astype(np.float64), np.random.default_rng(1).random(150).astype(np.float32)
    q = softmax(np.random.default_rng(0).normal(size=(150, 5)).astype(np.float32)) * w[:, None]
    found, size = weighted_means(graph.rows, q)
    precision = precision_within(graph.rows, w, found, size, 0.1, MEMORY)
    means = np.stack([np.average(X, axis=0, weights=q[:, c]) for c in range(5)])
    within = np.zeros((12, 12))
    for i in range(150):
        for c in range(5):
            within += q[i, c] * np.outer(X[i] - means[c], X[i] - means[c]) / q.sum()
    within += 0.1 * (1 + 3 * 12 / q.sum()) * np.trace(within) / 12 * np.eye(12)
    np.testing.assert_allclose(found, means, atol=1e-5)
    np.testing.assert_allclose(precision, np.linalg.inv(within), rtol=1e-2, atol=1e-2)


def test_a_covariance_of_few_nodes_is_drawn_to_the_sphere() -> None:
    def uneven(nodes: int) -> tuple[float, float]:
        """Return how far the precision is from a sphere, and what the same ridge for all gives."""
        X = np.random.default_rng(0).normal(size=(nodes, 12)).astype(np.float32)
        w = np.ones(nodes, dtype=np.float32)
        found, size = weighted_means(X, w[:, None])
        within = np.cov(X.T, bias=True)
        plain = within + 0.1 * np.trace(within) / 12 * np.eye(12)
        precision = precision_within(X, w, found, size, 0.1, MEMORY)
        return float(np.linalg.cond(precision)), float(np.linalg.cond(plain))

    few, plain = uneven(16)
    assert few < plain / 2
    many, plain = uneven(4000)
    assert abs(many / plain - 1) < 0.01

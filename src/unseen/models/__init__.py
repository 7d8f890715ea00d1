"""Models: what the default pipeline fits, the paper's own, and its baselines (`baselines/`)."""

from unseen.models.baselines.eszsl import ESZSL
from unseen.models.belief_propagation import BeliefPropagation
from unseen.models.cluster_matching import ClusterMatching
from unseen.models.dgpn import DGPN
from unseen.models.pooled_em import PooledEM
from unseen.models.prototype import Prototype

MODELS = {
    kind.__name__: kind
    for kind in (PooledEM, BeliefPropagation, ClusterMatching, ESZSL, DGPN, Prototype)
}  # those that a saved run may name

__all__ = [
    "DGPN",
    "ESZSL",
    "MODELS",
    "BeliefPropagation",
    "ClusterMatching",
    "PooledEM",
    "Prototype",
]

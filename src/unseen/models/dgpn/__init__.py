"""DGPN, the model of the paper: `model` has its equations in order, `maps` its three maps.

`sparse`, `loops` and `threads` train it where X is sparse. Only the reproduction of the paper,
whose nodes are bags of words, reaches them.
"""

from unseen.models.dgpn.model import DGPN

__all__ = ["DGPN"]

r"""How alike class texts are, read in four ways, for nodes that share no space with them.

With the vectors :math:`t_c` of the texts, :math:`n_c` of the names and :math:`p \in \mathcal P_c`
of the phrases of each class (what stands between commas, colons and full stops), every kind centred
and of unit length,

.. math::
    R^1_{cd} &= t_c^\top t_d, \qquad
    R^2_{cd} = \cos(\bar p_c, \bar p_d) \\
    R^3_{cd} &= \tfrac12 \operatorname{mean}_{p \in \mathcal P_c} \max_{q \in \mathcal P_d} p^\top q
        + \tfrac12 \operatorname{mean}_{q \in \mathcal P_d} \max_{p \in \mathcal P_c} p^\top q \\
    R^4_{cd} &= \tfrac12 (n_c^\top t_d + n_d^\top t_c)

The whole text says what a class is about, its phrases which terms two classes share (the late
interaction of ColBERT, Khattab and Zaharia, https://arxiv.org/abs/2004.12832), and a name beside
another's text whether the one speaks of the other. Each errs in its own way, so all are used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from unseen.core.arrays import unit
from unseen.encode.base import encode
from unseen.encode.class_texts import class_texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.classes import Classes
    from unseen.encode.base import Encoder

BREAK = re.compile(r"[,.;:!?]\s+")


def class_relations(classes: Classes, encoder: Encoder) -> NDArray[np.float32]:
    """Return R, a class without a description being described by its name. [4, C, C]"""
    names = class_texts(classes, "name")
    written = zip(names, classes.descriptions or [None] * len(names), strict=True)
    texts = [text or name for name, text in written]
    phrases = [phrases_of(text) for text in texts]
    flat = encode(encoder, [phrase for each in phrases for phrase in each])
    ends = np.cumsum([len(each) for each in phrases])[:-1]
    T, N = _centred(encode(encoder, texts)), _centred(encode(encoder, names))  # [C, d]
    P = np.split(_centred(flat), ends)  # of each class [p, d]
    means = _centred(np.stack([each.mean(axis=0) for each in np.split(unit(flat), ends)]))
    shared = np.array([[_shared(p @ q.T) for q in P] for p in P])
    mentioned = N @ T.T
    return np.stack([T @ T.T, means @ means.T, shared, (mentioned + mentioned.T) / 2]).astype(
        np.float32
    )


def phrases_of(text: str) -> list[str]:
    """Return what stands between marks.

    >>> phrases_of("Learning from rewards: policies, value functions.")
    ['Learning from rewards', 'policies', 'value functions']
    """
    found = [phrase.strip(" \n.,;:!?") for phrase in BREAK.split(text)]
    return [phrase for phrase in found if phrase] or [text]


def _shared(K: NDArray[np.float32]) -> float:
    """Return how alike the closest phrases are, both ways, of cosines K. [p, q]"""
    return float(K.max(axis=0).mean() + K.max(axis=1).mean()) / 2


def _centred(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    rows = unit(rows)
    return unit(rows - rows.mean(axis=0))

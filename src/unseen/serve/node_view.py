"""Everything about one node: words, readings, hops, neighbours, and what would change its class."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.explain.reasons import NAMED, agreement, by_itself, decided_by
from unseen.explain.words import WordShares, word_shares
from unseen.serve.answering import answer_texts, vectors_of
from unseen.serve.arrays import pair
from unseen.serve.labels import answers_of, label_of, votes
from unseen.serve.outsiders import SAID_SO

if TYPE_CHECKING:
    from unseen.serve.served import Served
    from unseen.serve.store import Store

NEIGHBOURS = 50  # that a view shows
TEXT = 20_000  # characters of a text that a view shows
WORDS = 8  # that may be taken away to see whether the runner-up wins
CHANGED = (1, 2, 4, 8, 16)  # neighbours that may be of the runner-up's class


def node_view(served: Served, store: Store, i: int, change: bool) -> dict[str, Any]:
    """Return the view of a node; `change` also tries what would make the runner-up win."""
    one = slice(i, i + 1)
    (a,), (b,) = pair(served.label[one], served.runner_up[one], served.proba[one])
    a, b = int(a), int(b)
    node = served.ids[i]
    text = served.texts.start(i, 4 * TEXT)[:TEXT]
    around, strength = served.neighbours(i)
    order = np.argsort(-strength, kind="stable")[:NEIGHBOURS]
    near = around[order].tolist()
    said = votes(store, [node, *(served.ids[j] for j in near)])
    words = _words(served, text, a, b)
    found = served.brief(i, label_of(said.get(node), served)) | {
        "text": text,
        "background": _background(served, i),
        "flags": NAMED[served.flags[i]].split("; ") if served.flags[i] else [],
        "reason": _reason(served, i, a, around),
        "probabilities": np.round(served.proba[i].astype(float), 6).tolist(),
        "words": _shown_words(words, a, b, int(served.runner_up[i]) >= 0),
        "hops": _hops(served, i, a, b),
        "readings": (readings := _readings(served, i, a, b, words)),
        "score": None
        if not readings or readings[0]["part"] is None
        else float(sum(reading["part"] for reading in readings)),
        "change": None,
        "neighbours": [
            served.brief(j, label_of(said.get(served.ids[j]), served))
            | {
                "weight": float(strength[k]),
                "x": float(served.places[j, 0]),
                "y": float(served.places[j, 1]),
            }
            for j, k in zip(near, order.tolist(), strict=True)
        ],
        "degree": len(around),
        "neighbours_more": len(around) - len(near),
        "answers": answers_of(store, node, served),
        "version": served.number,
        "x": float(served.places[i, 0]),
        "y": float(served.places[i, 1]),
    }
    if change and not served.known[i]:
        found["change"] = _change(served, i, text, a, b, words)
    return found


def _background(served: Served, i: int) -> float | None:
    """Return how much a node looks like one of no listed class, where answers depend on it."""
    found = float(served.background[i])
    return round(found, 4) if served.classifier.open_world and not np.isnan(found) else None


def _words(served: Served, text: str, a: int, b: int) -> WordShares | None:
    """Return the shares of words in the scores of both classes, where a reading is linear."""
    if not served.reads_texts or not text.strip():
        return None
    for r, meta in enumerate(served.meta["readings"]):
        if meta["linear"] and meta["hops"] is None:
            weights, bias = served.reading(r, "weights"), served.reading(r, "bias")
            reader, preparer = served.encoder, served.classifier.preparer_
            return word_shares(reader, preparer, text, weights[[a, b]], bias[[a, b]])
    return None


def _shown_words(words: WordShares | None, a: int, b: int, against: bool) -> dict[str, Any] | None:
    """Return shares of words; `against` says whether there is a runner-up to lead over."""
    if words is None:
        return None
    return {
        "how": words.how,
        "class": a,
        "against": b if against else None,
        "spans": [
            {"start": lo, "end": hi, "share": round(mine, 6), "lead": round(mine - theirs, 6)}
            for (lo, hi), (mine, theirs) in zip(
                words.spans.tolist(), words.shares.tolist(), strict=True
            )
        ],
        "rest": float(words.encoder[0]),
        "centring": float(words.centring[0]),
        "bias": float(words.bias[0]),
        "score": float(words.score[0]),
    }


def _hops(served: Served, i: int, a: int, b: int) -> dict[str, Any]:
    """Return what each hop added to the lead of the class over the runner-up, and its share."""
    moved = served.moved[i].astype(float)
    favour = np.maximum(moved, 0)
    total = favour.sum()
    share = favour / total if total > 0 else np.eye(1, len(moved))[0]
    parts = zip(share.tolist(), moved.tolist(), strict=True)
    return {
        "class": a,
        "against": b,
        "parts": [{"hop": k, "share": s, "moved": m} for k, (s, m) in enumerate(parts)],
        "lead": float(moved.sum()),
    }


def _readings(
    served: Served, i: int, a: int, b: int, words: WordShares | None
) -> list[dict[str, Any]]:
    """Return what each reading says of both classes; where it is linear, what its score is of."""
    found = []
    for r, meta in enumerate(served.meta["readings"]):
        p = served.reading(r)[i]
        linear = None
        if meta["hops"] is not None:
            length = float(served.reading(r, "length")[i]) or 1.0
            parts = served.reading(r, "hops")[i, :, a] / length
            bias = float(served.reading(r, "bias")[a])
            linear = {
                "parts": [
                    *({"name": f"hop {k}", "value": float(v)} for k, v in enumerate(parts)),
                    {"name": "bias", "value": bias},
                ],
                "score": float(parts.sum()) + bias,
            }
        elif meta["linear"] and words is not None:
            parts_of = {
                "words": words.shares[:, 0].sum(),
                "rest of the text": words.encoder[0],
                "centring": words.centring[0],
                "bias": words.bias[0],
            }
            linear = {
                "parts": [{"name": name, "value": float(v)} for name, v in parts_of.items()],
                "score": float(words.score[0]),
            }
        pool = meta["pool"]
        found.append(
            {
                "name": meta["name"],
                "weight": pool,
                "probability": float(p[a]),
                "runner_up": float(p[b]),
                "part": None if pool is None else float(pool) * float(p[a]),
                "linear": linear,
            }
        )
    return found


def _reason(served: Served, i: int, a: int, around: Any) -> str:
    """Return the sentence of the run's own table, made of the same numbers."""
    own = served.meta["own"]
    if served.known[i]:
        return "was given with its label"
    if i in served.outside:
        return SAID_SO
    shares = [part["share"] for part in _hops(served, i, a, a)["parts"]]
    if len(shares) == 1 or not len(around):
        return by_itself(own, graph_used=len(shares) > 1)
    agree = int((served.label[around] == a).sum())
    return f"{decided_by(own, shares)}. {agreement(agree, len(around))}"


def _change(
    served: Served, i: int, text: str, a: int, b: int, words: WordShares | None
) -> dict[str, Any]:
    """Return what would make the runner-up win, tried out: fewer words, or other neighbours."""
    around, strength = served.neighbours(i)
    near = list(zip(around.tolist(), strength.tolist(), strict=True))
    name = served.names[b]
    needs = []
    if words is not None:
        lead = words.shares[:, 0] - words.shares[:, 1]
        said = [text[lo:hi] for lo, hi in words.spans.tolist()]
        strongest = np.argsort(-lead, kind="stable").tolist()
        order = [w for w in strongest if lead[w] > 0 and any(map(str.isalnum, said[w]))][:WORDS]
        shorter = [
            _without(text, words.spans[sorted(order[:k])].tolist())
            for k in range(1, len(order) + 1)
        ]
        if shorter:
            tried = answer_texts(served, vectors_of(served, shorter), [near] * len(shorter))
            wins = np.flatnonzero(tried.posterior.argmax(axis=1) == b)
            if len(wins):
                gone = order[: wins[0] + 1]
                spans = words.spans[sorted(gone)].tolist()
                needs.append(
                    {"what": "words", "text": _quoted([said[w] for w in gone]), "spans": spans}
                )
    if near:
        ours = [j for j, _ in sorted(near, key=lambda each: -each[1]) if served.label[j] != b]
        certain = np.eye(len(served.names), dtype=np.float32)[b]
        for k in sorted({*(k for k in CHANGED if k < len(ours)), len(ours)}):
            fixed = dict.fromkeys(ours[:k], certain)
            tried = answer_texts(served, np.asarray(served.vectors[i : i + 1]), [near], fixed)
            if int(tried.posterior[0].argmax()) == b and k:
                which = f"{k} of its {len(near)} neighbours" if len(near) > 1 else "its neighbour"
                needs.append({"what": "neighbours", "text": f"if {which} had the class “{name}”"})
                break
    sentence = (
        f"“{name}” would win {' or '.join(need['text'] for need in needs)}."
        if needs
        else f"No small change of its words or neighbours makes “{name}” win."
    )
    return {"runner_up": b, "needs": needs, "sentence": sentence}


def _quoted(words: list[str]) -> str:
    """Return what is left out, in words; one that stands there more than once is told once.

    >>> _quoted(["a", "b", "a"])
    'without the words “a” (2 times), “b”'
    """
    times = Counter(words)
    told = [f"“{word}”" + (f" ({n} times)" if n > 1 else "") for word, n in times.items()]
    return f"without the word{'s' if len(told) > 1 else ''} {', '.join(told)}"


def _without(text: str, spans: list[list[int]]) -> str:
    kept, at = [], 0
    for lo, hi in spans:
        kept.append(text[at:lo])
        at = hi
    return "".join([*kept, text[at:]])

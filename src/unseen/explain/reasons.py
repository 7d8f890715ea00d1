"""One sentence for each answer, and flags for answers that deserve a look."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from unseen.explain.strings import unpacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.core.operator import Operator
    from unseen.explain.strings import Titles

FLAGS = (
    "text disagrees",  # the own text alone speaks for another class
    "close call",  # the runner-up is nearly as probable
    "no text",
    "neighbours disagree",  # fewer than half of the neighbours have the same class
    "no neighbours",
)
TEXT_DISAGREES, CLOSE_CALL, NO_TEXT, NEIGHBOURS_DISAGREE, NO_NEIGHBOURS = (
    1 << k for k in range(len(FLAGS))
)
CLOSE = 0.1  # difference of two probabilities
LEAST = 0.005  # share of a decision that is told


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about the answers to some nodes.

    Attributes:
        nodes: the nodes to explain. [m]
        winner: class of every node of the graph, labelled or predicted. [n]
        shares: of each hop in the decisions about `nodes`. [m, K+1]
        operator: the graph.
        ids: names of all nodes. [n]
        own: what a node's own evidence is called: "text", "words" or "features".
        names: of the classes. [C]
        text_class: the class that the own text alone speaks for; -1 where it says nothing. [m]
        flags: those of `FLAGS` that need no look at neighbours, as bits. [m]
        words: that speak for `text_class`, packed; None where they are not known. [m, WIDTH]
        titles: of all nodes; None where there is no text.
    """

    nodes: NDArray[np.int64]
    winner: NDArray[np.int64]
    shares: NDArray[np.float32]
    operator: Operator
    ids: Sequence[str]
    own: str
    names: Sequence[str]
    text_class: NDArray[np.int64]
    flags: NDArray[np.uint8]
    words: NDArray[np.uint8] | None = None
    titles: Titles | None = None


class Reasons(Sequence[str]):
    """One sentence for each of some nodes, formed when it is asked for."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._last: tuple[Any, tuple[list[str], list[str]]] = (None, ([], []))

    def __len__(self) -> int:
        return len(self._evidence.nodes)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        found: str | list[str] = self._of(at, 0)
        return found

    @property
    def flags(self) -> Flags:
        """Flags of the same nodes."""
        return Flags(self)

    def _of(self, at: int | slice, which: int) -> Any:
        if not isinstance(at, slice):
            return self._of(slice(at, at + 1 or None), which)[0]
        key = at.indices(len(self))
        if self._last[0] != key:  # sentences and flags are asked for one after the other
            self._last = (key, explained(self._evidence, at))
        return list(self._last[1][which])


class Flags(Sequence[str]):
    """Flags of some nodes, with "; " between them; formed when they are asked for."""

    def __init__(self, reasons: Reasons) -> None:
        self._reasons = reasons

    def __len__(self) -> int:
        return len(self._reasons)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        found: str | list[str] = self._reasons._of(at, 1)
        return found


def explained(about: Evidence, at: slice = slice(None)) -> tuple[list[str], list[str]]:
    """Return the sentences and the flags of some of the nodes at once."""
    nodes, winner, own = about.nodes[at], about.winner, about.own
    shares, text_class = np.asarray(about.shares[at], dtype=np.float64), about.text_class[at]
    ends, around, strength = about.operator.edges_of(nodes)
    counts = np.diff(ends)
    row = np.repeat(np.arange(len(nodes)), counts)
    agreeing = winner[around] == winner[nodes][row]  # [e]
    agreed = np.bincount(row[agreeing], minlength=len(nodes))
    flags = about.flags[at].copy()
    flags[(counts > 0) & (2 * agreed < counts)] |= NEIGHBOURS_DISAGREE
    if about.operator.entries:  # where nothing has an edge, it says nothing
        flags[counts == 0] |= NO_NEIGHBOURS
    examples: Iterator[str] = iter(())
    if shares.shape[1] > 1:
        strongest = _strongest(row, np.where(agreeing, strength, -1.0), ends)  # [m]
        examples = iter(_called(about, around[strongest[agreed > 0]]))
    words = [""] * len(nodes) if about.words is None else unpacked(np.asarray(about.words[at]))
    sentences = []
    for i, (count, agree) in enumerate(zip(counts.tolist(), agreed.tolist(), strict=True)):
        silent = bool(flags[i] & NO_TEXT)
        if shares.shape[1] == 1 or not count:
            sentences.append(by_itself(own, words[i], silent, shares.shape[1] > 1))
            continue
        other = text_class[i] >= 0 and text_class[i] != winner[nodes[i]]
        said = decided_by(own, shares[i], "" if other else words[i])
        if silent:
            said += f", as it has no {own} of its own"
        elif other:
            speaks = "speaks" if own == "text" else "speak"
            said += f", but its own {own} alone {speaks} for {about.names[text_class[i]]!r}"
            said += f" (words: {words[i]})" if words[i] else ""
        sentences.append(f"{said}. {agreement(agree, count, next(examples) if agree else '')}")
    return sentences, [NAMED[bits] for bits in flags.tolist()]


def decided_by(own: str, shares: Sequence[float] | NDArray[Any], words: str = "") -> str:
    """Return who decided, by their shares: the node itself, its neighbours, those behind them.

    >>> decided_by("text", [0.6, 0.4], "tea, pot")
    'Decided by its own text (60%, words: tea, pot) and its neighbours (40%)'
    """
    near, *far = [float(share) for share in shares[1:]]
    mine = f"its own {own}"
    who = {mine: float(shares[0]), "its neighbours": near, "nodes further away": sum(far)}
    most = sorted((each for each in who.items() if each[1] >= LEAST), key=lambda each: -each[1])
    said = []
    for name, share in most:
        notes = [f"{share:.0%}"] if len(most) > 1 else []
        notes += [f"words: {words}"] if words and name == mine else []
        said.append(f"{name} ({', '.join(notes)})" if notes else name)
    *first, last = said
    return f"Decided by {', '.join(first)} and {last}" if first else f"Decided by {last}"


def agreement(agree: int, count: int, example: str = "") -> str:
    """Say how many of a node's neighbours have its class.

    >>> agreement(3, 4, "'tea'")
    "3 of 4 neighbours have this class, such as 'tea'."
    """
    if count == 1:
        said = f"Its only neighbour has {'this' if agree else 'another'} class"
    elif not agree:
        said = f"None of its {count} neighbours has this class"
    elif agree == count:
        said = f"{'Both' if count == 2 else f'All {count}'} neighbours have this class"
    else:
        said = f"{agree} of {count} neighbours {'has' if agree == 1 else 'have'} this class"
    if not example:
        return f"{said}."
    return f"{said}{':' if agree == 1 else ', such as'} {example}."


def by_itself(own: str, words: str = "", silent: bool = False, graph_used: bool = True) -> str:
    """Return the sentence of a node that had to be answered without neighbours."""
    rest = "it has no neighbours" if graph_used else "the graph was not used"
    if silent:
        return f"It has no {own} of its own, and {rest}."
    return f"Decided by its own {own} alone{f' (words: {words})' if words else ''}, as {rest}."


def names_of(ids: Sequence[str], nodes: NDArray[np.int64]) -> list[str]:
    """Return the names of some nodes; ids on disk are read together."""
    return ids.names(nodes) if hasattr(ids, "names") else [ids[i] for i in nodes.tolist()]


def _called(about: Evidence, nodes: NDArray[np.int64]) -> list[str]:
    """Return what some nodes are called: title and id, or the id alone."""
    ids = names_of(about.ids, nodes)
    titles = [""] * len(ids) if about.titles is None else about.titles.of(nodes)
    return [
        f"{title!r} ({name})" if title and title != name else repr(name)
        for title, name in zip(titles, ids, strict=True)
    ]


def _strongest(
    row: NDArray[np.int64], strength: NDArray[np.float32], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where the first of the largest entries of each row lies; any, if it has none. [m]"""
    found = np.zeros(len(ends) - 1, dtype=np.int64)
    filled = np.flatnonzero(np.diff(ends))
    if len(filled):
        most = np.zeros(len(found), dtype=strength.dtype)
        most[filled] = np.maximum.reduceat(strength, ends[filled])
        at = np.where(strength == most[row], np.arange(len(row)), len(row))
        found[filled] = np.minimum.reduceat(at, ends[filled])
    return found


def bits_of(flags: Sequence[str]) -> NDArray[np.uint8]:
    """Return flags as bits, the other way round than `NAMED`. [m]"""
    known = {name: bits for bits, name in enumerate(NAMED)}
    return np.array([known.get(each, 0) for each in flags], dtype=np.uint8)


NAMED = [
    "; ".join(flag for k, flag in enumerate(FLAGS) if bits >> k & 1)
    for bits in range(1 << len(FLAGS))
]

"""From the files that the sources publish to a `Layout`: parsers alone, nothing is fetched here.

Each takes `read`, which returns the content of a file of the source, given its name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.core.labels import NodeSplit
from unseen.datasets.catalogue import CATALOGUE
from unseen.datasets.layout import Layout
from unseen.datasets.match import content_hashes, partners, twins
from unseen.datasets.planetoid import read_planetoid

Read = Callable[[str], bytes]

CORA_NAMES = (
    "Neural_Networks",
    "Rule_Learning",
    "Reinforcement_Learning",
    "Probabilistic_Methods",
    "Theory",
    "Genetic_Algorithms",
    "Case_Based",
)
CITESEER_IDS = np.array([3, 5, 1, 2, 0, 4])  # the paper's class id of each of planetoid's columns
CITESEER_FIRST = 28  # planetoid's number of the paper that is node 0 in the authors' files

SMALLEST_CLASS = 70  # C-M10M leaves out the classes of M10 with fewer nodes
WORD = re.compile(r"[a-z][a-z0-9-]*[a-z0-9]")
FEWEST_TITLES = 3  # in which a word must occur to become a feature
_COMMON = (
    "about after against all an and are as at be between by can could do does during for from have "
    "how in into is it its many more most new no not of on one only or other over should some than "
    "that the their them there this through to two under up use user using via was we what when "
    "why with within without you your"
)
LEFT_OUT = frozenset(_COMMON.split())


def read_cora(read: Read) -> Layout:
    """LINQS Cora: `cora.content` (id, words, class) and `cora.cites` (cited id, citing id).

    LINQS knows no standard split; see `read_cora_split`.
    """
    rows = [line.split("\t") for line in _text_lines(read("cora.content"))]
    position = {row[0]: i for i, row in enumerate(rows)}
    classes = {name: i for i, name in enumerate(CORA_NAMES)}
    cites = [line.split("\t") for line in _text_lines(read("cora.cites"))]
    words = np.array([[value == "1" for value in row[1:-1]] for row in rows])
    return Layout(
        edges=np.array([(position[cited], position[citing]) for cited, citing in cites]),
        features=sp.csr_array(words, dtype=np.float32),
        labels=np.array([classes[row[-1]] for row in rows]),
        classes=CATALOGUE["cora"].class_names,
        splits=CATALOGUE["cora"].splits,
    )


def read_cora_split(read: Read, linqs: Layout) -> tuple[NodeSplit, int]:
    """Return planetoid's split of Cora in the numbers of LINQS, and how many papers have a twin.

    Planetoid holds the same graph, but numbers the papers its own way and without their ids, so
    each is found by its content (see `match`). Its columns of classes have no names: no two of
    the seven classes are of one size, so the sizes tell which is which.
    """
    found = read_planetoid("cora", read)
    theirs, ours = (np.bincount(of[of >= 0]) for of in (found.columns, linqs.labels))
    if sorted(theirs) != sorted(ours):
        raise InputError(
            f"ind.cora.ally, ind.cora.ty: expected classes of {sorted(ours.tolist())} nodes, "
            f"found {sorted(theirs.tolist())}"
        )
    ids = np.empty(len(ours), dtype=np.int64)
    ids[np.argsort(theirs)] = np.argsort(ours)
    labels = np.where(found.columns < 0, -1, ids[found.columns])
    hashes = content_hashes(linqs.features, linqs.labels, linqs.edges)
    of = partners(content_hashes(found.features, labels, found.edges), hashes)
    split = found.split
    moved = NodeSplit(of[split.train], of[split.validation], of[split.test])
    return moved, twins(hashes)


def read_pubmed(read: Read) -> Layout:
    """Pubmed as planetoid has it: its nodes, in its order, with its columns as class ids."""
    found = read_planetoid("pubmed", read)
    about = CATALOGUE["pubmed"]
    return Layout(
        edges=found.edges,
        features=found.features,
        labels=found.columns,
        classes=about.class_names,
        splits=about.splits,
        standard=found.split,
    )


def read_citeseer(read: Read) -> Layout:
    """Citeseer in the form of the paper's files, made from planetoid's.

    LINQS lists 17 citations of (or by) 15 papers that it tells nothing else about. Planetoid keeps
    those papers as nodes without words or class. The authors' files drop them, but send the 17
    lines to node 0, the paper that planetoid numbers 28: 15 edges that nobody ever cited. This does
    the same, so that published scores can be compared, and marks the lines as `dangling`, so that
    the `clean` variant can leave them out. The other nodes keep planetoid's order, and its split,
    of which those 15 are no part.
    """
    found = read_planetoid("citeseer", read)
    known = found.columns >= 0
    new = np.cumsum(known) - 1
    new[~known] = new[CITESEER_FIRST]
    about, split = CATALOGUE["citeseer"], found.split
    return Layout(
        edges=new[found.edges],
        features=found.features[np.flatnonzero(known)],
        labels=CITESEER_IDS[found.columns[known]],
        classes=about.class_names,
        splits=about.splits,
        standard=NodeSplit(new[split.train], new[split.validation], new[split.test]),
        dangling=np.flatnonzero(~known[found.edges].all(axis=1)),
    )


def read_c_m10m(read: Read) -> Layout:
    """C-M10M, cut out of M10 (`docs.txt`, `labels.txt`, `adjedges.txt`) as the paper's files are.

    Kept are the citations between papers with a title, then the papers with such a citation (of
    themselves included), then the classes with at least 70 of those. The order of the files stays;
    classes are numbered as they come. The features are the words of the titles, 0 or 1.
    """
    docs = [line.partition(" ") for line in _text_lines(read("docs.txt"))]
    titles = {paper: title.strip() for paper, _, title in docs}
    of = dict(line.split()[:2] for line in _text_lines(read("labels.txt")))
    unlabelled = titles.keys() - of.keys()
    if unlabelled:
        raise InputError(f"labels.txt: {len(unlabelled):,} papers of docs.txt have no class in it")
    listed = (line.split() for line in _text_lines(read("adjedges.txt")))
    cites = [(a, b) for a, *others in listed for b in others if a in titles and b in titles]
    linked = {paper for pair in cites for paper in pair}
    sizes = Counter(of[paper] for paper in linked)
    kept = [p for p in titles if p in linked and sizes[of[p]] >= SMALLEST_CLASS]
    position = {paper: i for i, paper in enumerate(kept)}
    ids = {name: i for i, name in enumerate(dict.fromkeys(of[paper] for paper in kept))}
    texts = tuple(titles[paper] for paper in kept)
    features, vocabulary = bag_of_words(texts)
    about = CATALOGUE["c-m10m"]
    lines = [(position[a], position[b]) for a, b in cites if a in position and b in position]
    return Layout(
        edges=np.array(lines, dtype=np.int64).reshape(-1, 2),
        features=features,
        labels=np.array([ids[of[paper]] for paper in kept], dtype=np.int64),
        classes=about.class_names,
        splits=about.splits,
        texts=texts,
        vocabulary=vocabulary,
    )


def bag_of_words(texts: Sequence[str]) -> tuple[sp.csr_array, tuple[str, ...]]:
    """Return which text has which word, [n, d], and the words, sorted."""
    found = [set(WORD.findall(text.lower())) - LEFT_OUT for text in texts]
    often = Counter(word for words in found for word in words)
    vocabulary = tuple(sorted(w for w, times in often.items() if times >= FEWEST_TITLES))
    column = {word: j for j, word in enumerate(vocabulary)}
    cells = [(i, column[w]) for i, words in enumerate(found) for w in words if w in column]
    rows, columns = np.array(cells, dtype=np.int64).reshape(-1, 2).T
    shape = (len(texts), len(vocabulary))
    return sp.csr_array((np.ones(len(rows), np.float32), (rows, columns)), shape=shape), vocabulary


def _text_lines(content: bytes) -> list[str]:
    """Split at newlines alone: some titles hold characters that `splitlines` takes for an end."""
    lines = (line.rstrip("\r") for line in content.decode("utf-8").split("\n"))
    return [line for line in lines if line.strip()]

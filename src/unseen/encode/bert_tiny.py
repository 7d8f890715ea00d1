"""`bert-tiny`: the encoder of the paper's class descriptions, 128 dimensions.

The vector of a text is the masked mean of the second-to-last layer of BERT-Tiny (2 layers, 128
wide, 2 heads), that is `hidden_states[-2]`. The weights are in no package: they come from the
Hugging Face hub, only when asked for, or from a folder, `bert-tiny:FOLDER`.

Turc et al., "Well-Read Students Learn Better", https://arxiv.org/abs/1908.08962
"""

from __future__ import annotations

from pathlib import Path

from unseen.core.errors import InputError, MissingExtraError, require
from unseen.encode.base import OFFLINE
from unseen.encode.bert import BertEncoder
from unseen.encode.hub import require_hub

HUB_ID = "google/bert_uncased_L-2_H-128_A-2"
REVISION = "30b0a37ccaaa32f332884b96992754e246e48c5f"
FILES = ("config.json", "vocab.txt", "model.safetensors")
INSTEAD = f'give a folder that holds {", ".join(FILES)} as "bert-tiny:FOLDER"; '


def load_bert_tiny(name: str, folder: str = "", device: str = "cpu") -> BertEncoder:
    """Return BERT-Tiny from a folder, or from the hub where no folder is given.

    Any plain BERT will do in the folder; it is the pooling that makes it "as in the paper".
    """
    require("torch", "torch", f"encoder {name!r}")
    place = Path(folder).expanduser() if folder else _download()
    return BertEncoder(place, name=name, device=device, max_length=512, layer=-2)


def _download() -> Path:
    """Return the folder with one pinned revision, fetched where it is not there yet."""
    try:
        from huggingface_hub import hf_hub_download
    except ImportError as error:
        raise MissingExtraError('encoder "bert-tiny"', "transformers") from error

    def fetch(local: bool) -> Path:
        paths = [
            hf_hub_download(HUB_ID, file, revision=REVISION, local_files_only=local)
            for file in FILES
        ]
        return Path(paths[0]).parent

    try:
        return fetch(local=True)
    except OSError:  # not fetched before
        require_hub("bert-tiny", INSTEAD)
    try:
        return fetch(local=False)
    except Exception as error:  # whatever its HTTP library raises
        raise InputError(
            f"encoder: 'bert-tiny' could not be fetched from the Hugging Face hub, {HUB_ID} "
            f"({type(error).__name__}); {INSTEAD}{OFFLINE}"
        ) from error

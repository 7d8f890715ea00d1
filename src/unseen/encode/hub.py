"""The Hugging Face hub: asked only for a model by id, and given up on quickly where it is away."""

from __future__ import annotations

import ssl
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from unseen.core.errors import InputError
from unseen.encode.base import OFFLINE

PATIENCE = 5.0  # seconds until the hub counts as out of reach


def require_hub(name: str, instead: str = "") -> None:
    """Raise `InputError` where the hub does not answer; the hub's own library retries for minutes.

    Args:
        name: the encoder that wants something from the hub.
        instead: what the user may give for it without internet.
    """
    from huggingface_hub import constants

    reason = ""
    if constants.HF_HUB_OFFLINE:
        reason = "the variable HF_HUB_OFFLINE forbids it"
    else:
        try:
            with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=PATIENCE):
                pass
        except HTTPError:
            pass  # an answer, if not a friendly one
        except (URLError, OSError) as error:
            cause = getattr(error, "reason", error)
            if not isinstance(cause, ssl.SSLError):  # the hub's library may know other certificates
                reason = f"{constants.ENDPOINT} cannot be reached: {cause}"
    if reason:
        raise InputError(
            f"encoder: {name!r} is not on this machine yet and cannot be fetched from the "
            f"Hugging Face hub ({reason}); {instead}{OFFLINE}"
        )

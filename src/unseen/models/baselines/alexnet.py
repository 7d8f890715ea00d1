r"""AlexNet, the backbone of DAP(CNN) and ZS-GCN(CNN): node attributes read as a picture.

The paper puts "the AlexNet released by the official PyTorch library" below two of its baselines and
zero-pads "the input of convolution layer" (https://doi.org/10.1145/3447548.3467230, appendix). This
is that network, with the names and shapes of its published weights: the one-tower form of
https://arxiv.org/abs/1404.5997. For a node with attributes x [d]:

.. math::
    p &= \mathrm{pad}\big(\mathrm{square}(x / (0.225 \max_j |x_j|))\big)       && [127, 127] \\
    m &= \mathrm{conv}_5(\cdots \mathrm{conv}_1(p, p, p))                      && [256, 3, 3] \\
    f &= \mathrm{ReLU}(W_7\, \mathrm{ReLU}(W_6\, \mathrm{pool}(m) + b_6) + b_7) && [4096]

The paper does not say how a row becomes a picture. Here:

- x is laid row by row into the smallest square that holds it, zeros filling the last row, and the
  square stands in the middle of a larger one of zeros, the same in all three channels;
- the larger one is 127 pixels wide, or as wide as the square if that is more. With 63, the least
  that AlexNet takes, the last map is a single number for each channel; 127 is the first at which
  it has a middle and a margin (3 x 3), and each of its cells fills the same share of the 6 x 6 that
  the next layer expects. The 224 of photographs takes three times as long, nearly all of it spent
  on the zeros;
- photographs lie in [0, 1], less a mean, over a standard deviation of about 0.225. The largest
  entry of a row becomes 1, whatever the row summed to, and is divided by that number. No mean is
  taken off: zero stays zero, in the picture as around it.

Every node is read alone, so its features do not depend on the other nodes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import OrderedDict
from math import ceil, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unseen.core.errors import InputError, SavedFileError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import Tensor

VARIABLE = "UNSEEN_ALEXNET"
FILE = "alexnet-owt-7be5be79.pth"
URL = f"https://download.pytorch.org/models/{FILE}"
NAMED_HASH = re.compile(r"-([0-9a-f]{8,})\.")  # the start of the SHA-256, as torch.hub names files
SIDE = 127  # pixels
SPREAD = 0.225  # standard deviation of ImageNet's pixels in [0, 1], by which training divided them
WIDTH = 4096  # of the features
BATCH = 64  # nodes at a time

Weights = dict[str, "Tensor"]


class WeightsMissing(InputError):  # noqa: N818 - the name says what is the matter
    """There is no file with AlexNet's weights where it was looked for."""


def alexnet() -> Any:
    """Return the network without weights: a `torch.nn.Module` whose tensors are only shapes."""
    import torch
    from torch import nn

    with torch.device("meta"):
        features = nn.Sequential(
            *(nn.Conv2d(3, 64, 11, stride=4, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)),
            *(nn.Conv2d(64, 192, 5, padding=2), nn.ReLU(), nn.MaxPool2d(3, 2)),
            *(nn.Conv2d(192, 384, 3, padding=1), nn.ReLU()),
            *(nn.Conv2d(384, 256, 3, padding=1), nn.ReLU()),
            *(nn.Conv2d(256, 256, 3, padding=1), nn.ReLU(), nn.MaxPool2d(3, 2)),
        )
        classifier = nn.Sequential(
            *(nn.Dropout(), nn.Linear(256 * 6 * 6, WIDTH), nn.ReLU()),
            *(nn.Dropout(), nn.Linear(WIDTH, WIDTH), nn.ReLU()),
            nn.Linear(WIDTH, 1000),
        )
        parts: OrderedDict[str, nn.Module] = OrderedDict(
            features=features,
            avgpool=nn.AdaptiveAvgPool2d(6),
            flatten=nn.Flatten(),
            classifier=classifier,
        )
        return nn.Sequential(parts).eval()


def find_weights(path: str | Path | None = None) -> Path:
    """Return the file with the weights: the one named, or the one in torch.hub's folder.

    Args:
        path: the file. Without it the variable UNSEEN_ALEXNET is asked, and then the place where
            torch.hub keeps the published weights. Nothing is downloaded.
    """
    variable = os.environ.get(VARIABLE)
    if path is not None:
        place, source = Path(path), "as path says"
    elif variable:
        place, source = Path(variable), f"as the variable {VARIABLE} says"
    else:
        import torch.hub

        place, source = Path(torch.hub.get_dir()) / "checkpoints" / FILE, "torch.hub's folder"
    place = place.expanduser()
    if not place.is_file():
        raise WeightsMissing(
            f"AlexNet: weights not available; looked for the file {str(place)!r} ({source}); "
            f"download {URL} (244 MB) and put it there, or name your file by path or by the "
            f'variable {VARIABLE}; weights="random" runs without, for comparison only'
        )
    return place


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def load_weights(path: str | Path | None = None) -> Weights:
    """Read AlexNet's state dict from `find_weights(path)`, running no code that a file may hold."""
    import torch
    from safetensors.torch import load_file

    file = find_weights(path)
    named, found = NAMED_HASH.search(file.name), file_digest(file)
    if named and not found.startswith(named[1]):
        raise SavedFileError(
            f"AlexNet: {str(file)!r} is damaged or not the file that it is named after: expected a "
            f"SHA-256 that starts with {named[1]}, found {found}; download {URL} again"
        )
    try:
        if file.suffix == ".safetensors":
            raw = load_file(file)
        else:
            raw = torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:  # torch.load raises eight kinds or more, all of them for bad files
        first = (str(error).strip().splitlines() or [""])[0]
        raise SavedFileError(
            f"AlexNet: {str(file)!r} cannot be read as weights and nothing but weights "
            f"({type(error).__name__}: {first}); download {URL}"
        ) from error
    return _checked(raw, file)


def random_weights(seed: int = 0) -> Weights:
    """Draw weights that keep the size of what goes through them (He), with biases at zero."""
    import torch

    rng = torch.Generator().manual_seed(seed)
    weights = {name: torch.zeros(shape) for name, shape in _shapes().items()}
    for name, tensor in weights.items():
        if name.endswith(".weight"):
            torch.nn.init.kaiming_uniform_(tensor, nonlinearity="relu", generator=rng)
    return weights


def pictures(X: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return each row as a picture with a margin of zeros. [n, d] -> [n, side, side]"""
    nodes, width = X.shape
    square = ceil(sqrt(width))
    largest = np.abs(X).max(axis=1, keepdims=True, initial=0) * SPREAD  # [n, 1]
    pixels = np.zeros((nodes, square * square), np.float32)
    np.divide(X, largest, out=pixels[:, :width], where=largest > 0)
    side = max(SIDE, square)
    framed = np.zeros((nodes, side, side), np.float32)
    at = slice((side - square) // 2, (side - square) // 2 + square)
    framed[:, at, at] = pixels.reshape(nodes, square, square)
    return framed


def features(X: NDArray[np.float32], weights: Weights) -> NDArray[np.float32]:
    """Return what the layer before the last says about each row of X [n, d]. [n, 4096]"""
    import torch

    network = alexnet()
    network.load_state_dict(weights, assign=True)
    network.classifier[-1] = torch.nn.Identity()
    layout = torch.channels_last  # a quarter quicker on a processor than channel by channel
    network.to(memory_format=layout)
    out = np.empty((len(X), WIDTH), np.float32)
    with torch.inference_mode():
        for at in range(0, len(X), BATCH):
            gray = torch.from_numpy(pictures(X[at : at + BATCH]))[:, None]  # [b, 1, side, side]
            colour = gray.expand(-1, 3, -1, -1).contiguous(memory_format=layout)
            out[at : at + BATCH] = network(colour).numpy()
    return out


def _shapes() -> dict[str, tuple[int, ...]]:
    return {name: tuple(tensor.shape) for name, tensor in alexnet().state_dict().items()}


def _checked(raw: Any, file: Path) -> Weights:
    """Return the state dict in single precision; refuse that of another network."""
    import torch

    expected = _shapes()
    found = raw if isinstance(raw, dict) else {}
    for name in [*expected, *found]:
        tensor, wanted = found.get(name), "no such name"
        has = str(list(tensor.shape)) if isinstance(tensor, torch.Tensor) else type(tensor).__name__
        if name in expected:
            wanted = str(list(expected[name]))
        if has != wanted:
            raise SavedFileError(
                f"AlexNet: {str(file)!r} holds the weights of another network: expected {wanted} "
                f"at {name!r}, found {has if name in found else 'nothing'}; download {URL}"
            )
    return {name: found[name].detach().float() for name in expected}

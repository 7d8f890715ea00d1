"""AlexNet: names and shapes, where weights come from, what is refused, and the pictures."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from safetensors.torch import save_file

from unseen.core.errors import InputError, SavedFileError, UnseenError
from unseen.encode.bert_files import file_digest
from unseen.models.baselines.alexnet import (
    FILE,
    SIDE,
    URL,
    Weights,
    WeightsMissing,
    alexnet,
    features,
    find_weights,
    load_weights,
    pictures,
    random_weights,
)

SHAPES: dict[str, tuple[int, ...]] = {  # of the published weights
    "features.0.weight": (64, 3, 11, 11),
    "features.0.bias": (64,),
    "features.3.weight": (192, 64, 5, 5),
    "features.3.bias": (192,),
    "features.6.weight": (384, 192, 3, 3),
    "features.6.bias": (384,),
    "features.8.weight": (256, 384, 3, 3),
    "features.8.bias": (256,),
    "features.10.weight": (256, 256, 3, 3),
    "features.10.bias": (256,),
    "classifier.1.weight": (4096, 9216),
    "classifier.1.bias": (4096,),
    "classifier.4.weight": (4096, 4096),
    "classifier.4.bias": (4096,),
    "classifier.6.weight": (1000, 4096),
    "classifier.6.bias": (1000,),
}


@pytest.fixture(scope="module")
def drawn() -> Weights:
    """Return random weights with biases that are not zero, so that a forgotten one shows."""
    weights = random_weights(3)
    rng = torch.Generator().manual_seed(4)
    for name, tensor in weights.items():
        if name.endswith(".bias"):
            tensor.normal_(0, 0.1, generator=rng)
    return weights


@pytest.fixture(autouse=True)
def _nobody_named_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("UNSEEN_ALEXNET", raising=False)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))


def light_weights() -> Weights:
    """Return weights that fill a few kilobytes: each row of a tensor repeats one number."""
    rng = torch.Generator().manual_seed(0)
    return {
        name: torch.randn(shape[0], *(1 for _ in shape[1:]), generator=rng).expand(shape)
        for name, shape in SHAPES.items()
    }


def saved(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(content, path)
    return path


def test_names_and_shapes_are_those_of_the_published_weights() -> None:
    found = {name: tuple(tensor.shape) for name, tensor in alexnet().state_dict().items()}
    assert found == SHAPES
    assert list(found) == list(SHAPES)
    assert sum(map(prod, SHAPES.values())) == 61_100_840  # as torchvision documents it


def test_random_weights_keep_the_size_of_signals_and_repeat_with_their_seed(
    drawn: Weights,
) -> None:
    again, other = random_weights(3), random_weights(1)
    assert {name: tuple(tensor.shape) for name, tensor in again.items()} == SHAPES
    for name, tensor in again.items():
        if name.endswith(".bias"):
            assert not tensor.any()
        else:
            assert torch.equal(tensor, drawn[name])
            assert not torch.equal(tensor, other[name])
            fan_in = tensor[0].numel()
            assert tensor.std().item() == pytest.approx((2 / fan_in) ** 0.5, rel=0.02)


# Pictures


def test_a_row_is_laid_into_the_smallest_square_in_the_middle_of_zeros() -> None:
    picture = pictures(np.array([[2, -4, 1]], np.float32))
    expected = np.zeros((1, SIDE, SIDE), np.float32)
    expected[0, 62:64, 62:64] = np.array([[0.5, -1], [0.25, 0]]) / 0.225
    np.testing.assert_allclose(picture, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("width", "square", "side"),
    [(1, 1, 127), (4, 2, 127), (5, 3, 127), (1433, 38, 127), (3703, 61, 127), (16130, 128, 128)],
)
def test_no_attribute_is_lost_at_any_width(width: int, square: int, side: int) -> None:
    row = np.arange(1, width + 1, dtype=np.float32)
    (picture,) = pictures(row[None])
    assert picture.shape == (side, side)
    rows, columns = np.nonzero(picture)
    assert columns.max() - columns.min() + 1 == square
    np.testing.assert_allclose(picture[rows, columns], row / width / 0.225, rtol=1e-5)
    before, after = columns.min(), side - 1 - columns.max()
    assert after - before in (0, 1)  # in the middle
    assert rows.min() == before


def test_a_node_without_attributes_is_an_empty_picture() -> None:
    X = np.array([[0, 0, 0, 0], [0, 3, 0, 0]], np.float32)
    assert not pictures(X)[0].any()
    assert pictures(X)[1].sum() == pytest.approx(1 / 0.225)
    assert pictures(X[:0]).shape == (0, SIDE, SIDE)


def test_the_side_is_the_first_whose_last_map_has_a_margin() -> None:
    def last_map(side: int) -> int:
        convolutions = alexnet().features.to_empty(device="cpu")
        return int(convolutions(torch.zeros(1, 3, side, side)).shape[-1])

    assert last_map(SIDE) == 3
    assert last_map(SIDE - 1) == 2
    assert last_map(63) == 1


# Features


def convolve(x: NDArray[Any], weights: Weights, at: int, stride: int, pad: int) -> NDArray[Any]:
    """Return ReLU of a convolution written as one product of matrices. [c, s, s]"""
    W = weights[f"features.{at}.weight"].double().numpy()  # [c', c, k, k]
    b = weights[f"features.{at}.bias"].double().numpy()
    x = np.pad(x, ((0, 0), (pad, pad), (pad, pad)))
    windows = sliding_window_view(x, W.shape[2:], axis=(1, 2))[:, ::stride, ::stride]
    sums = np.tensordot(W, windows, ((1, 2, 3), (0, 3, 4)))
    return np.asarray(np.maximum(sums + b[:, None, None], 0))


def pool(x: NDArray[Any]) -> NDArray[Any]:
    """Return the largest of each 3 x 3, two apart."""
    windows = sliding_window_view(x, (3, 3), axis=(1, 2))[:, ::2, ::2]
    return np.asarray(windows.max(axis=(3, 4)))


def connect(x: NDArray[Any], weights: Weights, at: int) -> NDArray[Any]:
    W, b = (weights[f"classifier.{at}.{part}"].numpy() for part in ("weight", "bias"))
    return np.asarray(np.maximum(W @ x + b, 0))


def test_features_equal_a_forward_pass_in_numpy(drawn: Weights) -> None:
    row = np.random.default_rng(1).normal(size=(1, 200)).astype(np.float32)
    x = np.repeat(pictures(row).astype(np.float64), 3, axis=0)  # [3, 127, 127]
    x = pool(convolve(x, drawn, 0, 4, 2))  # [64, 15, 15]
    x = pool(convolve(x, drawn, 3, 1, 2))  # [192, 7, 7]
    x = convolve(x, drawn, 6, 1, 1)
    x = convolve(x, drawn, 8, 1, 1)
    x = pool(convolve(x, drawn, 10, 1, 1))  # [256, 3, 3]
    x = x.repeat(2, axis=1).repeat(2, axis=2).ravel()  # a mean over 6 x 6 repeats each cell
    x = connect(connect(x.astype(np.float32), drawn, 1), drawn, 4)  # without dropout
    found = features(row, drawn)
    assert found.shape == (1, 4096)
    assert found.dtype == np.float32
    assert (x > 0).mean() > 0.2
    np.testing.assert_allclose(found[0], x, rtol=1e-3, atol=1e-4 * x.max())


def test_features_of_a_node_do_not_depend_on_the_others_nor_on_the_scale(
    drawn: Weights,
) -> None:
    X = np.random.default_rng(2).normal(size=(66, 9)).astype(np.float32)  # more than one batch
    X[65] = X[3]
    found = features(X, drawn)
    small = 1e-4 * float(found.max())
    np.testing.assert_allclose(features(X[60:], drawn), found[60:], rtol=1e-3, atol=small)
    np.testing.assert_allclose(features(X[[7]] * 5, drawn), found[[7]], rtol=1e-3, atol=small)
    np.testing.assert_allclose(found[65], found[3], rtol=1e-3, atol=small)
    assert np.abs(found[7] - found[8]).max() > 0.1 * found.max()  # yet nodes are told apart
    assert features(X[:0], drawn).shape == (0, 4096)


# Where weights come from


def test_a_saved_state_dict_comes_back(tmp_path: Path) -> None:
    weights = light_weights()
    found = load_weights(saved(tmp_path / "own.pth", weights))
    assert list(found) == list(SHAPES)
    for name, tensor in weights.items():
        assert torch.equal(found[name], tensor)


def test_half_precision_in_safetensors_is_read_as_single(tmp_path: Path) -> None:
    path = tmp_path / "own.safetensors"
    half = {name: tensor.half().contiguous() for name, tensor in light_weights().items()}
    save_file(half, path)
    found = load_weights(path)
    path.unlink()  # 122 MB
    for name, tensor in half.items():
        assert found[name].dtype == torch.float32
        assert torch.equal(found[name], tensor.float())


def test_path_comes_before_the_variable_and_the_variable_before_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = saved(tmp_path / "torch" / "hub" / "checkpoints" / FILE, 0)
    assert find_weights() == hub
    named = saved(tmp_path / "named.pth", 0)
    monkeypatch.setenv("UNSEEN_ALEXNET", str(named))
    assert find_weights() == named
    given = saved(tmp_path / "given.pth", 0)
    assert find_weights(given) == find_weights(str(given)) == given
    given.unlink()
    with pytest.raises(WeightsMissing, match=r"given\.pth"):  # not another file in its place
        find_weights(given)


def test_missing_weights_are_said_with_the_place_and_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_internet(*_: object, **__: object) -> None:
        raise AssertionError("nobody asked for a download")

    monkeypatch.setattr("torch.hub.urlopen", no_internet)
    monkeypatch.setattr("socket.socket.connect", no_internet)
    with pytest.raises(WeightsMissing) as hub:
        load_weights()
    assert str(hub.value) == (
        f"AlexNet: weights not available; looked for the file "
        f"{str(tmp_path / 'torch' / 'hub' / 'checkpoints' / FILE)!r} (torch.hub's folder); "
        f"download {URL} (244 MB) and put it there, or name your file by path or by the variable "
        'UNSEEN_ALEXNET; weights="random" runs without, for comparison only'
    )
    assert isinstance(hub.value, UnseenError)
    assert isinstance(hub.value, InputError)
    monkeypatch.setenv("UNSEEN_ALEXNET", str(tmp_path))  # a folder, not a file
    with pytest.raises(WeightsMissing, match="as the variable UNSEEN_ALEXNET says"):
        load_weights()
    with pytest.raises(WeightsMissing, match=r"no\.pth' \(as path says\)"):
        load_weights(tmp_path / "no.pth")


# What is refused


def test_a_hash_in_the_name_must_be_that_of_the_content(tmp_path: Path) -> None:
    path = saved(tmp_path / "own.pth", light_weights())
    digest = file_digest(path)
    right = path.rename(tmp_path / f"alexnet-owt-{digest[:8]}.pth")
    assert set(load_weights(right)) == set(SHAPES)
    other = "0" if digest[7] != "0" else "1"
    wrong = right.rename(tmp_path / f"alexnet-owt-{digest[:7]}{other}.pth")
    with pytest.raises(SavedFileError, match=f"starts with {digest[:7]}{other}, found {digest}"):
        load_weights(wrong)


def test_a_stranger_in_the_hub_under_the_published_name_is_refused(tmp_path: Path) -> None:
    saved(tmp_path / "torch" / "hub" / "checkpoints" / FILE, light_weights())
    with pytest.raises(SavedFileError, match="expected a SHA-256 that starts with 7be5be79"):
        load_weights()


def without_a_bias(weights: Weights) -> object:
    return {name: tensor for name, tensor in weights.items() if name != "features.8.bias"}


def with_ten_classes(weights: Weights) -> object:
    return {**weights, "classifier.6.weight": torch.zeros(10, 4096)}


def with_more(weights: Weights) -> object:
    return {**weights, "features.12.weight": torch.zeros(1)}


def with_a_word(weights: Weights) -> object:
    return {**weights, "features.0.weight": "word"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_a_bias, r"expected \[256\] at 'features.8.bias', found nothing"),
        (
            with_ten_classes,
            r"expected \[1000, 4096\] at 'classifier.6.weight', found \[10, 4096\]",
        ),
        (with_more, r"expected no such name at 'features.12.weight', found \[1\]"),
        (with_a_word, r"expected \[64, 3, 11, 11\] at 'features.0.weight', found str"),
        (lambda _: [1, 2], r"at 'features.0.weight', found nothing"),
    ],
)
def test_weights_of_another_network_are_refused(
    change: Callable[[Weights], object], message: str, tmp_path: Path
) -> None:
    path = saved(tmp_path / "own.pth", change(light_weights()))
    with pytest.raises(SavedFileError, match=message):
        load_weights(path)


@pytest.mark.parametrize("name", ["own.pth", "own.safetensors"])
def test_a_file_of_something_else_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(SavedFileError, match="cannot be read as weights and nothing but weights"):
        load_weights(path)


class Bomb:
    """What makes a file when it is unpickled."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.marker,)


@pytest.mark.parametrize("wrapped", [True, False], ids=["torch.save", "pickle.dump"])
def test_a_pickle_that_runs_code_is_refused_and_does_not_run(wrapped: bool, tmp_path: Path) -> None:
    marker, path = tmp_path / "ran", tmp_path / "own.pth"
    content = {**light_weights(), "features.0.weight": Bomb(marker)}
    if wrapped:
        saved(path, content)
    else:
        path.write_bytes(pickle.dumps(content["features.0.weight"], protocol=2))
    with pytest.raises(SavedFileError, match="cannot be read as weights and nothing but weights"):
        load_weights(path)
    assert not marker.exists()
    if wrapped:  # the bomb is a live one
        torch.load(path, weights_only=False)
        assert marker.exists()

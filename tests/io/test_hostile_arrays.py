"""Sparse matrices whose parts lie about each other, in every form that SciPy saves."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from unseen.core.errors import InputError
from unseen.datasets.layout import Layout
from unseen.io.arrays import load_array, load_matrix
from unseen.io.features import parse_features

FORMS = ("csr", "csc", "bsr", "coo", "dia")
FAR = 2**31 - 5


def parts(form: str) -> dict[str, Any]:
    """Return a sound matrix [8, 6] as the arrays that SciPy saves."""
    A = sp.random_array((8, 6), density=0.5, rng=np.random.default_rng(0), dtype=np.float32)
    form_of = sp.bsr_array(A.toarray(), blocksize=(2, 2)) if form == "bsr" else A.asformat(form)
    out = io.BytesIO()
    sp.save_npz(out, form_of)
    with np.load(io.BytesIO(out.getvalue())) as found:
        return dict(found)


def archive(arrays: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def spoilt() -> list[Any]:
    """Return every form with every part of it wrong in every way."""
    found = []
    for form in FORMS:
        for name, whole in parts(form).items():
            if name in ("format", "_is_array"):
                continue
            ways: dict[str, Any] = {
                "of text": whole.astype("U9"),
                "complex": whole.astype(complex),
                "without end": np.full(7, FAR) if name != "data" else whole[:0],
                "of no dimension": np.array(3),
            }
            if whole.dtype.kind == "i":
                ways |= {
                    "far": np.full_like(whole, FAR),
                    "negative": np.full_like(whole, -3),
                    "of floats": whole.astype(np.float32),
                    "short": whole[:1],
                    "long": np.concatenate([whole, whole]),
                }
            found += [
                pytest.param(form, {name: wrong}, id=f"{form}: {name} {how}")
                for how, wrong in ways.items()
            ]
    return found


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read(form: str) -> None:
    found = load_matrix(archive(parts(form)), "x.npz")
    np.testing.assert_array_equal(
        found.toarray(), load_matrix(archive(parts("csr")), "x").toarray()
    )


@pytest.mark.parametrize(("form", "changes"), spoilt())
def test_a_part_that_lies_is_refused(form: str, changes: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"^x\.npz: "):
        parse_features(archive(parts(form) | changes), "x.npz", 8, "nodes.csv")


@pytest.mark.parametrize("form", FORMS)
def test_no_data_set_is_read_from_a_part_that_lies(form: str, tmp_path: Path) -> None:
    where = {"coo": "row", "dia": "offsets"}.get(form, "indices")
    arrays = parts(form)
    np.savez(tmp_path / "edges.npz", edges=np.zeros((0, 2), np.int64))
    np.save(tmp_path / "labels.npy", np.zeros(8, np.int64))
    for name, text in (("splits", "{}"), ("classes", '["a", "b"]')):
        (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
    np.savez(tmp_path / "features.npz", **arrays)
    assert Layout.read(tmp_path).features.shape == (8, 6)
    np.savez(tmp_path / "features.npz", **arrays | {where: np.full_like(arrays[where], FAR)})
    with pytest.raises(InputError, match="cannot be read as a data set"):
        Layout.read(tmp_path)


def test_an_archive_that_grows_beyond_all_memory_is_refused_unread() -> None:
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (8, 99999999999999), }".ljust(117)
    raw = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header + b"\n"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("x.npy", raw)
    with pytest.raises(InputError, match=r"^x\.npz: "):
        parse_features(out.getvalue(), "x.npz", 8, "nodes.csv")
    lying = out.getvalue().replace(
        len(raw).to_bytes(4, "little"), (2**32 - 2).to_bytes(4, "little")
    )
    with pytest.raises(InputError, match=r"^x\.npz: "):
        parse_features(lying, "x.npz", 8, "nodes.csv")


@pytest.mark.parametrize("raw", [b"", b"\x93NUMPY", b"PK\x03\x04", b"\x93NUMPY\x09\x00{}"])
def test_what_is_no_array_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        load_array(raw)


def test_an_array_of_objects_is_refused() -> None:
    out = io.BytesIO()
    np.save(out, np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="Object arrays cannot be loaded"):
        load_array(out.getvalue())

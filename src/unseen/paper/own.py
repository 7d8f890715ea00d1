"""A method that somebody else wrote: `package.module:Class`, as a row of the paper's tables.

It is any object with `fit(task)` and `posterior(task)` (see `models/base.py`), made without
arguments, or with `seed=` where its constructor has that. It sees the whole graph, attributes as a
dense array, and the labels of seen classes. Its trials hold a digest of the file that it stands in,
so that they are run again when that file changes.
"""

from __future__ import annotations

import hashlib
import sys
from importlib import import_module
from inspect import isclass, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.core.errors import InputError, shortlist
from unseen.paper.methods import Method

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np
    from numpy.typing import NDArray

CONTRACT = ("fit", "posterior")


def own_method(name: str) -> Method:
    """Import a model from the current folder or from Python's path."""
    place, _, called = name.partition(":")
    module = _module(name, place)
    kind = getattr(module, called, None)
    if not callable(kind):
        there = [each for each, value in vars(module).items() if isclass(value) and _fits(value)]
        found = f"it has {shortlist(there)}" if there else "nothing there has fit and posterior"
        raise InputError(f"--methods: {place} has no class {called!r}; {found}")
    seeded = "seed" in signature(kind).parameters

    def make(settings: dict[str, Any], seed: int, sizes: NDArray[np.int64]) -> Any:
        return kind(seed=seed) if seeded else kind()

    try:
        model = kind()
    except TypeError as error:
        raise InputError(
            f"--methods: {name} cannot be made without arguments ({error}); give them defaults"
        ) from error
    if not _fits(model):
        raise InputError(
            f"--methods: {name} is no model; it needs fit(task) and posterior(task), and lacks "
            + " and ".join(each for each in CONTRACT if not callable(getattr(model, each, None)))
        )
    file = getattr(module, "__file__", None)
    code = hashlib.sha256(Path(file).read_bytes() if file else b"").hexdigest()[:12]
    return Method(called, make, 10 if seeded else 1, {"code": code}, propagates=True)


def _fits(model: Any) -> bool:
    return all(callable(getattr(model, each, None)) for each in CONTRACT)


def _module(name: str, place: str) -> ModuleType:
    if not all(part.isidentifier() for part in place.split(".")):
        raise InputError(f"--methods: expected package.module:Class, found {name!r}")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return import_module(place)
    except ModuleNotFoundError as error:
        if error.name and not f"{place}.".startswith(f"{error.name}."):
            raise InputError(
                f"--methods: {place} imports {error.name!r}, which is not installed"
            ) from error
        raise InputError(
            f"--methods: there is no module {place!r} in {here} or on Python's path; start the "
            "command in the folder that holds it, or install it"
        ) from error

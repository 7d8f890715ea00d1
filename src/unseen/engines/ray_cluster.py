"""A Ray cluster: reached, or said in one line why not; its machines hold the same versions."""

from __future__ import annotations

import logging
import platform
import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from unseen.core.errors import InputError, UnseenError, require

PATIENCE = 10.0  # seconds to wait for a cluster to answer
STARTING = 90.0  # seconds for a first worker of a machine to start
SAME = ("unseen", "numpy", "scipy", "polars")  # whose versions answers may depend on
MISMATCH = "version mismatch"


def connect(address: str | None) -> Any:
    """Return Ray, connected to a cluster, or with one of its own on this machine."""
    ray = require("ray", "ray", "engine 'ray'")
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    if ray.is_initialized():
        return ray
    host, _, port = (address or "127.0.0.1:").rpartition(":")
    own: dict[str, Any] = {"_node_ip_address": host} if host.startswith("127.") else {}
    try:
        if address and port.isdecimal():  # Ray itself would wait for minutes
            socket.create_connection((host.removeprefix("ray://"), int(port)), PATIENCE).close()
        ray.init(
            address=address or "local", log_to_driver=False, logging_level=logging.ERROR, **own
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(_unreached(address, str(error), ray.__version__)) from error
    if address:
        check_versions(ray)
    return ray


def _unreached(address: str | None, why: str, here: str) -> str:
    """Return what to say of a cluster that cannot be used."""
    where = address or "this machine"
    if MISMATCH in why.lower():
        reason = " ".join(why.split())
        return (
            f"address: {where} runs other versions of Ray or Python than Ray {here} and Python "
            f"{platform.python_version()} here ({reason}); install the same on every machine"
        )
    what = (why.strip().splitlines() or ["no answer"])[0]
    return (
        f"address: no Ray cluster can be reached at {where} ({what}); start one with "
        "`ray start --head`, or leave the address out for one on this machine"
    )


def check_versions(ray: Any) -> None:
    """Refuse a cluster some machine of which would compute with other versions than this one."""
    here = versions()
    for host, there in on_each(ray, versions):
        other = [name for name in SAME if there[name] != here[name]]
        if other:
            found = ", ".join(f"{name} {there[name] or 'is missing'}" for name in other)
            wanted = ", ".join(f"{name} {here[name]}" for name in other)
            raise InputError(
                f"address: machine {host} has other versions than this one ({found}; expected "
                f"{wanted}); install the same on every machine: pip install "
                f'"unseen[ray]=={here["unseen"]}"'
            )


def versions() -> dict[str, str]:
    """Return the versions that have to be the same everywhere, "" for one that is not there."""
    found = {}
    for name in SAME:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = ""
    return found


def on_each(ray: Any, ask: Any, *given: Any) -> list[tuple[str, Any]]:
    """Return host and answer of each machine; one that is lost meanwhile is left out."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    task = ray.remote(num_cpus=0, max_retries=1)(ask)
    begun = [
        (
            node["NodeManagerHostname"],
            task.options(
                scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            ).remote(*given),
        )
        for node in ray.nodes()
        if node["Alive"]
    ]
    found = []
    for host, ref in begun:
        try:
            found.append((host, ray.get(ref, timeout=STARTING)))
        except ray.exceptions.RayTaskError as error:
            raise InputError(
                f"address: machine {host} cannot work for this one ({failure(ray, error)}); "
                "install the same version of unseen on every machine"
            ) from error
        except ray.exceptions.RayError:
            continue
    return found


@contextmanager
def translated(ray: Any) -> Iterator[None]:
    """Raise errors of Ray as a user should see them."""
    try:
        yield
    except ray.exceptions.RayError as error:
        found = failure(ray, error)
        if found is error:
            raise
        raise found from error


def failure(ray: Any, error: Exception) -> Exception:
    """Return the error of a task as a user should see it: its own, or which setting would help."""
    inner: Any = error
    while inner is not None and (isinstance(inner, ray.exceptions.RayError) or inner is error):
        inner = getattr(inner, "cause", None) or inner.__cause__
    while isinstance(inner, Exception):  # Ray Data wraps the error of a function once more
        if isinstance(inner, UnseenError) or inner.__cause__ is None:
            return inner
        inner = inner.__cause__
    if isinstance(error, ray.exceptions.OutOfMemoryError):
        return InputError(
            "memory: a worker of the cluster had too little; run fewer of them on a machine "
            "(`ray start --num-cpus`), or give machines with more memory"
        )
    if isinstance(error, ray.exceptions.OutOfDiskError):
        return InputError(
            "disk: the object store of a machine cannot spill any more; make room, or spill "
            "elsewhere (`ray start --object-spilling-directory`)"
        )
    if isinstance(error, ray.exceptions.ObjectLostError | ray.exceptions.WorkerCrashedError):
        return InputError(
            f"address: machines or workers were lost too often ({type(error).__name__}); what "
            "was finished is kept: repeat the command"
        )
    return error


def seen_by_all(ray: Any, files: Sequence[str]) -> bool:
    """Tell whether every machine sees these files where this one does."""
    return all(found for _, found in on_each(ray, _sees, list(files)))


def _sees(files: list[str]) -> bool:
    from pathlib import Path

    return all(Path(file).is_file() for file in files)

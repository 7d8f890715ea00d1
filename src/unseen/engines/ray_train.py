"""Ray Train: a job that several workers do together, each on its share of the rows.

Gradients are sums over rows, so the sum over workers is what one worker would have: every worker
takes the same steps, and the loss is that of one worker but for the order of additions. Ray Train
places the workers, joins them to a process group of PyTorch, and begins anew, with as many as there
still are, when one is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unseen.core.errors import InputError, require
from unseen.engines.ray_cluster import translated

if TYPE_CHECKING:
    from unseen.engines.base import T, Team

LOSSES = 5  # of workers or machines, after which training is given up
MOST = 16  # workers: each step waits for all of them
STEADY = 24 * 3600.0  # seconds in which a team that works is not made larger


class Crew:
    """A place in a team of Ray Train."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    def share(self, count: int) -> slice:
        """Return which of so many rows are this worker's; each has some."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def total(self, tensors: Iterable[Any]) -> None:
        """Replace each tensor by its sum over all workers."""
        from torch import distributed

        for tensor in tensors:
            distributed.all_reduce(tensor)


class Result:
    """An actor that takes what the first worker has found."""

    def __init__(self) -> None:
        self.found: Any = None

    def keep(self, found: Any) -> None:
        """Take it."""
        self.found = found

    def give(self) -> Any:
        """Return it."""
        return self.found


def train(ray: Any, job: Callable[[Team], T], folder: Path) -> T:
    """Return what the first worker returned."""
    require("torch", "torch", "training on a cluster")
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchTrainer
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    total = ray.cluster_resources()
    gpus = int(total.get("GPU", 0))
    most = max(1, min(gpus or int(total.get("CPU", 1)), MOST))
    # on no machine that may be lost before the driver is: what it takes would go with it
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    result = ray.remote(num_cpus=0, scheduling_strategy=here)(Result).remote()
    trainer = TorchTrainer(
        _work,
        train_loop_config={"job": ray.put(job), "result": result},
        scaling_config=ScalingConfig(
            num_workers=(1, most), use_gpu=bool(gpus), elastic_resize_monitor_interval_s=STEADY
        ),
        run_config=RunConfig(
            storage_path=str(folder / "scratch"), failure_config=FailureConfig(max_failures=LOSSES)
        ),
    )
    try:
        trainer.fit()
    except Exception as error:  # what Ray Train wraps the errors of workers in
        own = getattr(error, "worker_failures", {})
        why = next(iter(own.values()), error)
        raise InputError(
            f"training: the workers of the cluster gave up ({str(why).strip().splitlines()[-1]}); "
            "what was finished before is kept: repeat the command"
        ) from error
    with translated(ray):
        found: T = ray.get(result.give.remote())
    return found


def _work(given: dict[str, Any]) -> None:
    """Do the share of one worker."""
    import ray
    from ray.train import get_context

    context = get_context()
    team = Crew(context.get_world_rank(), context.get_world_size())
    found = ray.get(given["job"])(team)
    if team.rank == 0:
        ray.get(given["result"].keep.remote(found))

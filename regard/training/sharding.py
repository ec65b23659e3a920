"""Weights that are sharded over the ranks by torch's FSDP2: each keeps its share of them, of gradients and of the
optimiser's memory, and they are whole only while they are needed.

Zhao et al. 2023, "PyTorch FSDP". A checkpoint holds whole tensors, as that of any other run does.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from regard.base.faults import Fault
from regard.protocols import Loss, Stacked
from regard.training.ranks import Ranks


def shard(module: nn.Module, ranks: Ranks) -> None:
    """Share the weights of a task out among the ranks; they are whole, all of them, while a loss is computed.

    Layers are not shared out one by one, which would save more: many are asked for more than their output, and would be
    used where they are not whole.
    """
    device = next(module.parameters()).device
    if isinstance(module, Stacked):
        raise Fault("training.sharded is for one large model, not for a stack of members; leave it out.")
    if device.type == "cuda" and ranks.shares_gpus:  # torch would end with a segmentation fault
        raise Fault("training.sharded needs a GPU for each process; start no more than there are, or leave it out.")
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    fully_shard(module, mesh=init_device_mesh(device.type, (ranks.size,)))
    _tell_of_total(module)
    register_fsdp_forward_method(module, "loss_and_total")
    for part in _sharded_parts(module):
        part.set_gradient_divide_factor(1.0)  # gradients are summed, and divided once, by the count of all items
        part.set_force_sum_reduction_for_comms(True)  # all that gloo knows


def _tell_of_total(module: Any) -> None:
    """Let the loss of a task come with its total in a tuple, where FSDP2 looks for what gradients are taken of.

    Of torch 2.11 it does not look into a dataclass, and so would sum no gradients and say nothing of it.
    """
    plain = module.loss

    def loss_and_total(batch: Any, carry: Any = None) -> tuple[Loss, Tensor]:
        loss = plain(batch, carry)
        return loss, loss.total

    module.loss_and_total = loss_and_total
    module.loss = lambda batch, carry=None: module.loss_and_total(batch, carry)[0]


def _sharded_parts(module: nn.Module) -> list[Any]:
    return [part for part in module.modules() if hasattr(part, "unshard")]


def is_sharded(tensor: Tensor) -> bool:
    return hasattr(tensor, "full_tensor")


@contextmanager
def whole_weights(module: nn.Module) -> Iterator[None]:
    """Inside this block a sharded module has all of its weights, so that ranks need not work in step."""
    parts = _sharded_parts(module)
    for part in parts:
        part.set_reshard_after_forward(False, recurse=False)
        part.unshard()
    try:
        yield
    finally:
        for part in parts:
            part.reshard()
            part.set_reshard_after_forward(True, recurse=False)


def whole(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Whole tensors, also of those that are sharded; all ranks must ask for them together."""
    return {name: _whole(each) for name, each in tensors.items()}


def _whole(tensor: Tensor) -> Tensor:
    if not is_sharded(tensor):
        return tensor
    from torch.distributed.tensor import DTensor

    assert isinstance(tensor, DTensor)
    return tensor.full_tensor()


def like(tensor: Tensor, own: Tensor) -> Tensor:
    """A whole tensor as another one is: this rank's share of it, where that is sharded."""
    if not is_sharded(own):
        return tensor
    from torch.distributed.tensor import DTensor, distribute_tensor

    assert isinstance(own, DTensor)
    return distribute_tensor(tensor.to(own.device), own.device_mesh, own.placements, src_data_rank=None)

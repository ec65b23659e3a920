"""Weights sharded over the ranks by torch's FSDP2: each rank stores its share of the weights, the gradients and the
optimiser's state, and weights are whole only while they are needed.

Zhao et al. 2023, "PyTorch FSDP". A checkpoint holds whole tensors, like that of any other run.
"""

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn

from regard.base.faults import Fault
from regard.protocols import Loss, Sectional, Stacked
from regard.training.ranks import Ranks


def shard(module: nn.Module, ranks: Ranks) -> None:
    """Shard the weights of a task over the ranks; while a loss is computed they are whole.

    Weights of a section are whole only while it or its neighbour is at work, in the loss or in its gradient; all others
    from the beginning of a loss to the end of its gradient.
    """
    device = next(module.parameters()).device
    if isinstance(module, Stacked):
        raise Fault("training.sharded is for one large model, not for a stack of members. Leave it out.")
    if device.type == "cuda" and ranks.shares_gpus:  # torch would end with a segmentation fault
        raise Fault("training.sharded needs a GPU for each process. Start fewer processes, or leave it out.")
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard, register_fsdp_forward_method

    mesh = init_device_mesh(device.type, (ranks.size,))
    for network in _sectional(module):
        for section, methods in network.sections():
            fully_shard(section, mesh=mesh)
            for method in methods:
                register_fsdp_forward_method(section, method)
        network.is_in_sections = True
    fully_shard(module, mesh=mesh)
    _tell_of_total(module)
    register_fsdp_forward_method(module, "loss_and_total")
    for part in _sharded_parts(module):
        part.set_gradient_divide_factor(1.0)  # gradients are summed, and divided once by the count of all items
        part.set_force_sum_reduction_for_comms(True)  # the only reduction that gloo supports
    _let_begin(module)
    # The keys and values that a section returns are views, and torch warns that they might be changed in place.
    warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view", UserWarning)


def _sectional(module: nn.Module) -> list[Sectional]:
    return [part for part in module.modules() if isinstance(part, Sectional)]


def _let_begin(module: Any) -> None:
    """Give a module `begin_shards`, which uses it but none of its sections, and call it.

    FSDP2 takes what is used first for the outermost module, and in a validation that may be a section. And before it
    leaves a section in the backward pass it fetches what was used before: this must be the same on all ranks, whatever
    each has validated. On a GPU its hook moves the arguments there and fails if a method has none, so this takes None.
    """
    from torch.distributed.fsdp import register_fsdp_forward_method

    module.begin_shards = lambda nothing: None
    register_fsdp_forward_method(module, "begin_shards")
    module.begin_shards(None)
    module.reshard()


def _tell_of_total(module: Any) -> None:
    """Wrap the loss of a task so that it returns its total in a tuple, where FSDP2 looks for tensors with gradients.

    In torch 2.11 it does not look into a dataclass, and so would silently sum no gradients.
    """
    plain = module.loss

    def loss_and_total(batch: Any, carry: Any = None) -> tuple[Loss, Tensor]:
        loss = plain(batch, carry)
        return loss, loss.total

    module.loss_and_total = loss_and_total
    module.loss = lambda batch, carry=None: module.loss_and_total(batch, carry)[0]


def _sharded_parts(module: nn.Module) -> list[Any]:
    return [part for part in module.modules() if hasattr(part, "unshard")]


def most_at_once(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that are whole at once in a sharded loss: outside sections, and of the two largest."""
    sections = [section for network in _sectional(module) for section, _ in network.sections()]
    inner = {part for section in sections for part in section.modules() if part is not section}
    of_sections = [list(section.parameters()) for section in sections if section not in inner]
    of_sections.sort(key=lambda parameters: sum(parameter.numel() for parameter in parameters))
    resting = {parameter for parameters in of_sections[:-2] for parameter in parameters}
    return [parameter for parameter in module.parameters() if parameter not in resting]


def is_sharded(tensor: Tensor) -> bool:
    return hasattr(tensor, "full_tensor")


@contextmanager
def whole_weights(module: Any) -> Iterator[None]:
    """Keep all weights of a sharded module whole inside this block, so that ranks need not work in step."""
    parts = _sharded_parts(module)
    for part in parts:
        part.set_reshard_after_forward(False, recurse=False)
        part.unshard()
    try:
        yield
    finally:
        if parts:
            module.begin_shards(None)
        for part in parts:
            part.reshard()
            part.set_reshard_after_forward(part is not module, recurse=False)  # the outermost stays whole for gradients


def whole(tensors: Mapping[str, Tensor], wanted: bool = True) -> dict[str, Tensor]:
    """Return whole tensors, sharded ones on the host; all ranks must call it together, even with `wanted` False."""
    gathered = {}
    for name, shard_or_tensor in tensors.items():
        tensor = _whole(shard_or_tensor)
        if wanted:  # otherwise it is released before the next is fetched
            gathered[name] = tensor
    return gathered


def _whole(tensor: Tensor) -> Tensor:
    if not is_sharded(tensor):
        return tensor
    from torch.distributed.tensor import DTensor

    assert isinstance(tensor, DTensor)
    return tensor.full_tensor().cpu()


def like(tensor: Tensor, model_tensor: Tensor) -> Tensor:
    """Return a whole tensor in the form of another: if that is sharded, this rank's share."""
    if not is_sharded(model_tensor):
        return tensor
    from torch.distributed.tensor import DTensor, distribute_tensor

    assert isinstance(model_tensor, DTensor)
    return distribute_tensor(
        tensor.to(model_tensor.device), model_tensor.device_mesh, model_tensor.placements, src_data_rank=None
    )

"""Weights that are sharded over the ranks by torch's FSDP2: each keeps its share of them, of gradients and of the
optimiser's memory, and they are whole only while they are needed.

Zhao et al. 2023, "PyTorch FSDP". A checkpoint holds whole tensors, as that of any other run does.
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
    """Share the weights of a task out among the ranks; while a loss is computed they are whole.

    Those of sections are so only while theirs is at work, in the loss or in its gradient, with that of the next; all
    others from the beginning of a loss to the end of its gradient.
    """
    device = next(module.parameters()).device
    if isinstance(module, Stacked):
        raise Fault("training.sharded is for one large model, not for a stack of members; leave it out.")
    if device.type == "cuda" and ranks.shares_gpus:  # torch would end with a segmentation fault
        raise Fault("training.sharded needs a GPU for each process; start no more than there are, or leave it out.")
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
        part.set_gradient_divide_factor(1.0)  # gradients are summed, and divided once, by the count of all items
        part.set_force_sum_reduction_for_comms(True)  # all that gloo knows
    _let_begin(module)
    # Keys and values that a section gives are views, of which torch fears that they are changed in place.
    warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view", UserWarning)


def _sectional(module: nn.Module) -> list[Sectional]:
    return [part for part in module.modules() if isinstance(part, Sectional)]


def _let_begin(module: Any) -> None:
    """Give a module `begin_shards`, which uses it and none of its sections, and call it.

    FSDP2 takes for the outermost what is used first, which in a validation may be a section. And before a section is
    left backwards it fetches what was used before it: that must be the same on all ranks, whatever each has validated.
    On a GPU its hook moves the arguments there and fails where a method has none, so this one takes None.
    """
    from torch.distributed.fsdp import register_fsdp_forward_method

    module.begin_shards = lambda nothing: None
    register_fsdp_forward_method(module, "begin_shards")
    module.begin_shards(None)
    module.reshard()


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


def most_at_once(module: nn.Module) -> list[nn.Parameter]:
    """The parameters that are whole at once in a sharded loss: those outside of sections, and of the two largest."""
    sections = [section for network in _sectional(module) for section, _ in network.sections()]
    inner = {part for section in sections for part in section.modules() if part is not section}
    of_sections = [list(section.parameters()) for section in sections if section not in inner]
    of_sections.sort(key=lambda parameters: sum(each.numel() for each in parameters))
    resting = {each for parameters in of_sections[:-2] for each in parameters}
    return [each for each in module.parameters() if each not in resting]


def is_sharded(tensor: Tensor) -> bool:
    return hasattr(tensor, "full_tensor")


@contextmanager
def whole_weights(module: Any) -> Iterator[None]:
    """Inside this block a sharded module has all of its weights, so that ranks need not work in step."""
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
            part.set_reshard_after_forward(part is not module, recurse=False)  # the outermost stays for the gradient


def whole(tensors: Mapping[str, Tensor], wanted: bool = True) -> dict[str, Tensor]:
    """Whole tensors, those that are sharded on the host; all ranks must ask together, also for what is not `wanted`."""
    found = {}
    for name, each in tensors.items():
        tensor = _whole(each)
        if wanted:  # else it is let go before the next is fetched
            found[name] = tensor
    return found


def _whole(tensor: Tensor) -> Tensor:
    if not is_sharded(tensor):
        return tensor
    from torch.distributed.tensor import DTensor

    assert isinstance(tensor, DTensor)
    return tensor.full_tensor().cpu()


def like(tensor: Tensor, own: Tensor) -> Tensor:
    """A whole tensor as another one is: this rank's share of it, where that is sharded."""
    if not is_sharded(own):
        return tensor
    from torch.distributed.tensor import DTensor, distribute_tensor

    assert isinstance(own, DTensor)
    return distribute_tensor(tensor.to(own.device), own.device_mesh, own.placements, src_data_rank=None)

"""Networks without real weights: to check the shapes of a recipe, and to make room for weights from a file."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from regard.base.faults import Fault


class ShapesOnly(TorchFunctionMode):
    """Weights created inside are one number expanded to their shape, and nothing is written into them.

    torch has the meta device for this, but computing on it imports torch._dynamo, which takes seconds.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.empty:
            return _unmade(*args, **kwargs)
        name = func.__name__
        if name == "__setitem__":
            return None
        if name.endswith("_") and not name.endswith("__"):
            return args[0] if args else kwargs["tensor"]
        return func(*args, **kwargs)


class Unfilled(TorchFunctionMode):
    """Weights created inside are allocated but not initialised, since drawing them takes longer than anything else."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func.__name__ in _DRAWS:
            return self.instead(args[0] if args else (kwargs or {})["tensor"])
        return func(*args, **(kwargs or {}))

    def instead(self, weight: Tensor) -> Tensor:
        """Return a weight in place of one that would have been drawn."""
        return weight


class AllAlike(Unfilled):
    """Weights created inside are all one small number: enough to see how a model computes, and quick to create.

    They share one piece of memory, because filling a gigabyte takes a second.
    """

    def __init__(self) -> None:
        super().__init__()
        self._shared = torch.empty(0)

    @torch.no_grad()
    def instead(self, weight: Tensor) -> Tensor:
        if weight._is_view() or weight.dtype != self._shared.dtype:
            return weight.fill_(_ALIKE)
        if weight.numel() > len(self._shared):
            self._shared = torch.full((weight.numel(),), _ALIKE)
        weight.data = self._shared[: weight.numel()].view(weight.shape)
        return weight


class NoProducts(TorchFunctionMode):
    """Products with weights inside return zeros of the right shape, but keep what a gradient would need.

    Products take nearly all the time of a large network, so its memory use is found quickly. Products in lower
    precision, and on other devices, are computed as usual.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if func is F.linear and not kwargs and _is_plain(*args):
            return _UnmadeProduct.apply(*args[:2])
        return func(*args, **(kwargs or {}))


def _is_plain(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> bool:
    is_on_cpu = inputs.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
    return is_on_cpu and weight.dim() == 2 and inputs.shape[-1] == weight.shape[1]


class _UnmadeProduct(torch.autograd.Function):
    """Returns zeros instead of a product, and saves the tensors that its gradient would need."""

    @staticmethod
    def forward(ctx: Any, inputs: Tensor, weight: Tensor) -> Tensor:
        of_inputs, of_weight = ctx.needs_input_grad
        rows = inputs.reshape(-1, inputs.shape[-1])  # a copy if rows are not contiguous, as in a real product
        ctx.save_for_backward(rows if of_weight else None, weight if of_inputs else None)
        return inputs.new_zeros(*inputs.shape[:-1], len(weight))


_ALIKE = 0.01
_DRAWS = frozenset({"normal_", "uniform_", "kaiming_uniform_", "xavier_uniform_", "orthogonal_"})


def _unmade(*size: Any, dtype: torch.dtype | None = None, **others: Any) -> Tensor:
    shape = size[0] if len(size) == 1 and not isinstance(size[0], int) else size
    return torch.zeros((), dtype=dtype).expand(*shape)


def refuse_too_large(module: nn.Module) -> None:
    """Refuse a network whose weights alone would fill the memory of this machine."""
    parameters = sum(parameter.numel() for parameter in module.parameters())
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if parameters * torch.float32.itemsize > memory:
        raise Fault(
            f"The model would have {parameters:,} parameters, which take {parameters * 4 / 2**30:,.0f} GiB, but this "
            f"machine has {memory / 2**30:,.0f} GiB of memory. Reduce model.width or the number of layers."
        )

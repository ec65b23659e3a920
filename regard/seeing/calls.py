"""Record every call of a network's modules as a tree: what went in, what came out, and the calls inside."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn


@dataclass
class Call:
    """One call of a module: its path in the network, its first input and output, and the calls inside it."""

    name: str
    module: nn.Module
    inputs: Tensor | None
    output: Tensor | None = None
    inside: list["Call"] = field(default_factory=list)

    def __iter__(self) -> Iterator["Call"]:
        """Yield this call and all calls inside it, in the order in which they began."""
        yield self
        for call in self.inside:
            yield from call


_recording: ContextVar[list[Call] | None] = ContextVar("recording", default=None)


@contextmanager
def recorded_calls(network: nn.Module) -> Iterator[list[Call]]:
    """Record the calls of all modules inside this block; the list holds those that no other call contains.

    In the pauses of a server other requests may use the network; they run in a context of their own, and their calls
    are not recorded.
    """
    outermost: list[Call] = []
    open_calls: list[Call] = []
    names = {module: name for name, module in network.named_modules()}

    def begin(module: nn.Module, arguments: tuple[Any, ...]) -> None:
        if _recording.get() is not outermost:
            return
        call = Call(names[module], module, _first_tensor(arguments))
        (open_calls[-1].inside if open_calls else outermost).append(call)
        open_calls.append(call)

    def end(module: nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
        if _recording.get() is not outermost:
            return
        open_calls.pop().output = _first_tensor(output if isinstance(output, tuple) else (output,))

    hooks = [module.register_forward_pre_hook(begin) for module in names]
    hooks += [module.register_forward_hook(end) for module in names]
    token = _recording.set(outermost)
    try:
        yield outermost
    finally:
        _recording.reset(token)
        for hook in hooks:
            hook.remove()


def _first_tensor(values: tuple[Any, ...]) -> Tensor | None:
    return next((value.detach() for value in values if isinstance(value, Tensor)), None)

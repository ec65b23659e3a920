"""The place where vectors enter a network: read them there, or put others in their place."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

_inside: ContextVar[object] = ContextVar("entrance", default=None)


@dataclass(frozen=True)
class Entrance:
    """The output of a module, or with `before` its input, at its first call in a pass."""

    module: nn.Module
    before: bool = False

    @torch.no_grad()
    def vectors(self, run: Callable[[], Any]) -> Tensor:
        """Return the vectors that enter during `run`."""
        found: list[Tensor] = []

        def keep(vectors: Tensor) -> Tensor:
            found.append(vectors.detach())
            return vectors

        with self._changing(keep):
            run()
        return found[0]

    @contextmanager
    def entering(self, vectors: Tensor) -> Iterator[None]:
        """Let these vectors enter inside this block instead of those that the first call finds."""

        def change(found: Tensor) -> Tensor:
            if found.shape != vectors.shape:
                raise RuntimeError(f"vectors of {tuple(vectors.shape)} cannot replace those of {tuple(found.shape)}")
            return vectors

        with self._changing(change):
            yield

    @contextmanager
    def _changing(self, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
        """Change the vectors of the first call; calls from other contexts, such as a server's, are left alone."""
        calls, token = 0, object()

        def is_first() -> bool:
            nonlocal calls
            if _inside.get() is not token:
                return False
            calls += 1
            return calls == 1

        def before(module: nn.Module, arguments: tuple[Any, ...]) -> tuple[Any, ...] | None:
            return (change(arguments[0]), *arguments[1:]) if is_first() else None

        def after(module: nn.Module, arguments: tuple[Any, ...], output: Tensor) -> Tensor | None:
            return change(output) if is_first() else None

        module = self.module
        hook = module.register_forward_pre_hook(before) if self.before else module.register_forward_hook(after)
        reset = _inside.set(token)
        try:
            yield
        finally:
            _inside.reset(reset)
            hook.remove()
        if not calls:
            raise RuntimeError(f"{type(self.module).__name__} was not called")


@contextmanager
def differentiable() -> Iterator[None]:
    """Let gradients pass through recurrent layers in eval mode, which cuDNN refuses."""
    with torch.backends.cudnn.flags(enabled=False), torch.enable_grad():
        yield

"""regard trains, runs and looks inside attention models.

Torch is loaded when first needed: importing this costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from regard.attention.watch import watching
    from regard.model import load

__version__ = "0.1.0"
__all__ = ["__version__", "load", "watching"]

_LAZY = {"load": "regard.model", "watching": "regard.attention.watch"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'regard' has no attribute {name!r}")

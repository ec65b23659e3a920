"""Parts of a network that do not learn."""

from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, runtime_checkable

from torch import nn

from regard.base.faults import Fault


@runtime_checkable
class Parted(Protocol):
    """A network that lists the attributes that make up each of its parts."""

    PARTS: ClassVar[dict[str, tuple[str, ...]]]


def check_parts(family: str, network: Any, names: Sequence[str]) -> None:
    """Refuse to freeze parts that a family does not have, or all of its parts."""
    for name in names:
        if name not in network.PARTS:
            raise Fault(
                f"training.freeze has '{name}', but the parts of this model ({family}) are {', '.join(network.PARTS)}."
            )
    if set(names) >= set(network.PARTS):
        raise Fault("training.freeze has every part of the model, so nothing would learn. Omit at least one.")


def freeze(network: Parted, names: Sequence[str]) -> None:
    """Freeze the parameters of these parts; a parameter shared by several parts belongs to the first."""
    owners: dict[nn.Parameter, str] = {}
    for part, attributes in network.PARTS.items():
        for attribute in attributes:
            module: nn.Module | None = getattr(network, attribute)
            for parameter in module.parameters() if module is not None else ():
                owners.setdefault(parameter, part)
    for parameter, owner in owners.items():
        parameter.requires_grad_(owner not in names)

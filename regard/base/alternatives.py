"""Report faults of values that may have several types only for the type that the user meant.

If a field takes a text or a table, pydantic tries both, lists what is wrong with each, and puts the name of the type
into the location of each fault. Users wrote one value and know nothing of these names.
"""

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

OTHER_KIND = "other_kind"  # type of a fault of a value that fits no type; its context has the faults of each
_WRONG_KIND = ("_type", "literal_error")  # suffixes of fault types that mean a value of another type


def faults_of_kinds_meant(model: type[BaseModel], faults: list[ErrorDetails]) -> list[ErrorDetails]:
    """Return the faults at the places where users wrote them; for several types, those of the one meant."""
    relevant: list[ErrorDetails] = []
    tried: dict[tuple[Any, ...], dict[Any, list[ErrorDetails]]] = {}  # value -> type -> faults
    for fault in faults:
        if fault["type"] == "is_instance_of":  # an object that only a program can pass, not a user
            continue
        if (place := next(_places_of_kinds(model, fault["loc"]), None)) is None:
            relevant.append(fault)
        else:
            value, kind = fault["loc"][:place], fault["loc"][place]
            plain: ErrorDetails = {**fault, "loc": (*value, *fault["loc"][place + 1 :])}
            tried.setdefault(value, {}).setdefault(kind, []).append(plain)
    for value, kinds in tried.items():
        fitting = [
            kind_faults
            for kind_faults in kinds.values()
            if not any(_is_of_wrong_kind(one_fault, value) for one_fault in kind_faults)
        ]
        if fitting:
            fewest = min(fitting, key=len)
            relevant += fewest
        else:
            all_faults = [one_fault for kind_faults in kinds.values() for one_fault in kind_faults]
            relevant.append({**all_faults[0], "type": OTHER_KIND, "ctx": {"kinds": all_faults}})
    return relevant


def _is_of_wrong_kind(fault: ErrorDetails, value: tuple[Any, ...]) -> bool:
    return fault["loc"] == value and fault["type"].endswith(_WRONG_KIND)


def _places_of_kinds(annotation: Any, place: tuple[Any, ...], first: int = 0) -> Iterator[int]:
    """Yield which parts of a fault's location are names of types, by the annotations there."""
    if first >= len(place):
        return
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _places_of_kinds(inner[0], place, first)
    elif origin in (Union, UnionType):
        kinds = [kind for kind in inner if kind is not NoneType]
        if len(kinds) == 1:
            yield from _places_of_kinds(kinds[0], place, first)
        else:
            yield first
    elif origin in (list, dict):
        yield from _places_of_kinds(inner[-1], place, first + 1)
    elif isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for name, field in annotation.model_fields.items():
            if place[first] == (field.alias or name):
                yield from _places_of_kinds(field.annotation, place, first + 1)

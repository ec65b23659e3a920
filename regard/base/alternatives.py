"""Faults of values that may be of several kinds, told of the kind that is meant.

Where a field takes a text or a table, pydantic tries both, lists what is wrong with either, and puts the name of the
kind into the place of each fault. People wrote one value, and know nothing of these names.
"""

from collections.abc import Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic_core import ErrorDetails

OTHER_KIND = "other_kind"  # the type of a fault of a value that is of no kind; its context has the fault of each
_WRONG_KIND = ("_type", "literal_error")  # how the types of faults end that say that a value is of another kind


def faults_of_kinds_meant(model: type[BaseModel], faults: list[ErrorDetails]) -> list[ErrorDetails]:
    """The faults at the places where people wrote them, of a value that may be of several kinds those of its own."""
    found: list[ErrorDetails] = []
    tried: dict[tuple[Any, ...], dict[Any, list[ErrorDetails]]] = {}  # values -> kinds -> what is wrong with them
    for fault in faults:
        if fault["type"] == "is_instance_of":  # what only a program can have in its hands, and people cannot give
            continue
        if (place := next(_places_of_kinds(model, fault["loc"]), None)) is None:
            found.append(fault)
        else:
            value, kind = fault["loc"][:place], fault["loc"][place]
            plain: ErrorDetails = {**fault, "loc": (*value, *fault["loc"][place + 1 :])}
            tried.setdefault(value, {}).setdefault(kind, []).append(plain)
    for value, kinds in tried.items():
        meant = [own for own in kinds.values() if not any(_is_of_wrong_kind(each, value) for each in own)]
        if meant:
            fewest = min(meant, key=len)
            found += fewest
        else:
            every = [each for own in kinds.values() for each in own]
            found.append({**every[0], "type": OTHER_KIND, "ctx": {"kinds": every}})
    return found


def _is_of_wrong_kind(fault: ErrorDetails, value: tuple[Any, ...]) -> bool:
    return fault["loc"] == value and fault["type"].endswith(_WRONG_KIND)


def _places_of_kinds(annotation: Any, place: tuple[Any, ...], first: int = 0) -> Iterator[int]:
    """Which parts of a fault's place are names of kinds, by the types of what lies there."""
    if first >= len(place):
        return
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _places_of_kinds(inner[0], place, first)
    elif origin in (Union, UnionType):
        kinds = [each for each in inner if each is not NoneType]
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

"""Which fields of a question go together, said once: the rules that refuse a request are also its description.

A field is *given* when it is not what it would be without it. Rules name fields as requests do. What JSON Schema cannot
say, such as that two numbers are equal, a rule refuses all the same.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import GetJsonSchemaHandler, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from regard.base.faults import Fault
from regard.base.recipe import Options

Fields = dict[str, Any]


class Rule(ABC):
    """One thing that must be true of the fields of a question together."""

    @abstractmethod
    def broken(self, given: Fields) -> str | None:
        """What is wrong with these fields, in one sentence."""

    @abstractmethod
    def schema(self, defaults: Fields) -> JsonSchemaValue:
        """What is right, as JSON Schema; `defaults` are the values of fields that are not given."""


@dataclass(frozen=True)
class Clash(Rule):
    """Where a field is given (or has one of some values), none of the others may be; `{other}` names the first."""

    field: str
    others: Sequence[str]
    sentence: str
    values: Sequence[Any] = ()

    def broken(self, given: Fields) -> str | None:
        is_so = self.field in given and (not self.values or given[self.field] in self.values)
        other = next((other for other in self.others if other in given and is_so), None)
        return None if other is None else self.sentence.format(other=other)

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        value = {"enum": list(self.values)} if self.values else {"not": {"const": defaults[self.field]}}
        others = {other: {"const": defaults[other]} for other in self.others}
        return {"if": {"properties": {self.field: value}, "required": [self.field]}, "then": {"properties": others}}


@dataclass(frozen=True)
class Need(Rule):
    """A field that may be given only beside another."""

    field: str
    other: str
    sentence: str

    def broken(self, given: Fields) -> str | None:
        return self.sentence if self.field in given and self.other not in given else None

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        return {"if": _given(self.field, defaults), "then": _given(self.other, defaults)}


@dataclass(frozen=True)
class OfOneText(Rule):
    """A field that belongs to one text."""

    field: str

    def broken(self, given: Fields) -> str | None:
        is_one = self.field not in given or len(given["text"]) == 1
        return None if is_one else f"'{self.field}' belongs to one output; give one text."

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        return {"if": _given(self.field, defaults), "then": _texts(1, 1)}


@dataclass(frozen=True)
class OneForEach(Rule):
    """A list that has one for all texts, or one for each; where it `nests`, only a list of lists is meant."""

    field: str
    nests: bool = False

    def broken(self, given: Fields) -> str | None:
        values, texts = given.get(self.field), len(given["text"])
        if values is None or len(values) in (1, texts) or (self.nests and not (values and isinstance(values[0], list))):
            return None
        return f"There are {len(values)} of '{self.field}' for {texts} texts; give one for all, or one for each."

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        """That several need several texts, and none no text; how many, no schema can compare."""
        items = {"items": {"type": "array"}} if self.nests else {}
        several = {"properties": {self.field: {"type": "array", "minItems": 2, **items}}, "required": [self.field]}
        rules = [{"if": several, "then": _texts(2)}]
        if not self.nests:
            none = {"properties": {self.field: {"const": []}}, "required": [self.field]}
            rules.append({"if": none, "then": {"properties": {"text": {"const": []}}}})
        return {"allOf": rules}


def _given(field: str, defaults: Fields) -> JsonSchemaValue:
    return {"properties": {field: {"not": {"const": defaults[field]}}}, "required": [field]}


def _texts(least: int, most: int | None = None) -> JsonSchemaValue:
    """So many texts; one need not be a list."""
    several = {"type": "array", "minItems": least, **({} if most is None else {"maxItems": most})}
    return {"properties": {"text": several if least > 1 else {"anyOf": [{"type": "string"}, several]}}}


class Agreeing(Options):
    """A question whose fields must agree by its rules."""

    rules: ClassVar[tuple[Rule, ...]] = ()

    @model_validator(mode="after")
    def _agree(self) -> "Agreeing":
        given = self._given_fields()
        for rule in self.rules:
            if sentence := rule.broken(given):
                raise Fault(sentence)
        return self

    def given(self, *names: str) -> bool:
        """Whether any of these fields is given."""
        return not self._given_fields().keys().isdisjoint(names)

    def _given_fields(self) -> Fields:
        values, defaults = self.model_dump(by_alias=True, exclude_unset=True), self._defaults()
        return {name: value for name, value in values.items() if name not in defaults or value != defaults[name]}

    @classmethod
    def _defaults(cls) -> Fields:
        return {
            field.alias or name: field.get_default(call_default_factory=True)
            for name, field in cls.model_fields.items()
            if not field.is_required()
        }

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        schema = handler(core)
        own = handler.resolve_ref_schema(schema)
        own |= {"allOf": [rule.schema(cls._defaults()) for rule in cls.rules]} if cls.rules else {}
        return schema

"""Which fields of a request go together, said once: the rules that refuse a request are also its description.

A field is *given* when it is not what it would be without it. Rules name fields as JSON does, and sentences name them
in braces, so that each is told by the name that whoever asks knows it by. What JSON Schema cannot say, such as that two
numbers are equal, a rule refuses all the same.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

from pydantic import GetJsonSchemaHandler, ValidationInfo, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from regard.base.faults import Fault
from regard.base.recipe import Options, check
from regard.base.requests.names import JSON, Names

Fields = dict[str, Any]


class Rule(ABC):
    """One thing that must be true of the fields of a request together."""

    @abstractmethod
    def refuse(self, given: Fields, names: Names) -> None:
        """Raise a fault if these fields break the rule."""

    @abstractmethod
    def schema(self, defaults: Fields) -> JsonSchemaValue:
        """Return the rule as JSON Schema; `defaults` are the values of fields that are not given."""


@dataclass(frozen=True)
class Clash(Rule):
    """Where a field is given (or has one of some values), none of the others may be; `{other}` names the first."""

    field: str
    others: Sequence[str]
    sentence: str
    values: Sequence[Any] = ()

    def refuse(self, given: Fields, names: Names) -> None:
        if self.field not in given or (self.values and given[self.field] not in self.values):
            return
        for other in self.others:
            if other in given:
                raise Fault(names.fill(self.sentence, other=names.name(other)))

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        value = {"enum": list(self.values)} if self.values else {"not": {"const": defaults[self.field]}}
        others = {other: {"const": defaults[other]} for other in self.others}
        return {"if": {"properties": {self.field: value}, "required": [self.field]}, "then": {"properties": others}}


@dataclass(frozen=True)
class ClashInside(Rule):
    """Where a field is given, a table in another may not have some names; `{other}` is the first."""

    field: str
    table: str
    inner: Sequence[str]
    sentence: str

    def refuse(self, given: Fields, names: Names) -> None:
        for name in self.inner:
            if self.field in given and name in given.get(self.table, {}):
                raise Fault(names.fill(self.sentence, other=names.name(f"{self.table}.{name}")))

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        none = {"properties": dict.fromkeys(self.inner, False)}
        return {"if": _given(self.field, defaults), "then": {"properties": {self.table: none}}}


@dataclass(frozen=True)
class Need(Rule):
    """A field that may be given only beside another.

    Generators of requests give a schema up that has too many such pairs, so that one may be left undescribed.
    """

    field: str
    other: str
    sentence: str
    is_described: bool = True

    def refuse(self, given: Fields, names: Names) -> None:
        if self.field in given and self.other not in given:
            raise Fault(names.fill(self.sentence))

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        return {"if": _given(self.field, defaults), "then": _given(self.other, defaults)} if self.is_described else {}


@dataclass(frozen=True)
class OfOneText(Rule):
    """A field that belongs to one text."""

    field: str

    def refuse(self, given: Fields, names: Names) -> None:
        if self.field in given and len(given["text"]) != 1:
            raise Fault(f"{names.name(self.field)} belongs to one output; give one text.")

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        return {"if": _given(self.field, defaults), "then": _texts(1, 1)}


@dataclass(frozen=True)
class OneForEach(Rule):
    """A list that has one for all texts, or one for each; where it `nests`, only a list of lists is meant."""

    field: str
    nests: bool = False

    def refuse(self, given: Fields, names: Names) -> None:
        values, texts = given.get(self.field), len(given["text"])
        if values is None or len(values) in (1, texts) or (self.nests and not (values and isinstance(values[0], list))):
            return
        name = names.name(self.field)
        raise Fault(f"There are {len(values)} of {name} for {texts} texts; give one for all, or one for each.")

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        """Return the schema: several need several texts, and none no text; how many, no schema can compare."""
        items = {"items": {"type": "array"}} if self.nests else {}
        several = {"properties": {self.field: {"type": "array", "minItems": 2, **items}}, "required": [self.field]}
        rules = [{"if": several, "then": _texts(2)}]
        if not self.nests:
            none = {"properties": {self.field: {"const": []}}, "required": [self.field]}
            rules.append({"if": none, "then": {"properties": {"text": {"const": []}}}})
        return {"allOf": rules}


@dataclass(frozen=True)
class NoMore(Rule):
    """A number that may not be above another, or what that is by default; it matters beside a third field alone."""

    field: str
    most: str
    default: int
    beside: str
    sentence: str  # of {value} and {limit}

    def refuse(self, given: Fields, names: Names) -> None:
        value, limit = given.get(self.field, 0), given.get(self.most, self.default)
        if self.beside in given and value > limit:
            raise Fault(names.fill(self.sentence, value=value, limit=limit))

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        return {}  # no schema can compare two numbers


def _given(field: str, defaults: Fields) -> JsonSchemaValue:
    return {"properties": {field: {"not": {"const": defaults[field]}}}, "required": [field]}


def _texts(least: int, most: int | None = None) -> JsonSchemaValue:
    """So many texts; one need not be a list."""
    several = {"type": "array", "minItems": least, **({} if most is None else {"maxItems": most})}
    return {"properties": {"text": several if least > 1 else {"anyOf": [{"type": "string"}, several]}}}


class VerbRequest(Options):
    """A request to a verb; its fields must agree by its rules."""

    verb: ClassVar[str] = ""  # that it asks for
    items: ClassVar[str] = ""  # the field whose values are answered one by one
    rules: ClassVar[tuple[Rule, ...]] = ()

    @classmethod
    def read(cls, table: dict[str, Any], names: Names = JSON) -> Self:
        """The request that a table holds, or one fault that names all that is wrong with it as `names` does."""
        return check(cls, table, names.whole, names.place, context=names, table_word=names.table_word)

    @model_validator(mode="after")
    def _agree(self, info: ValidationInfo) -> Self:
        self.refuse_clashes(info.context or JSON)
        return self

    def refuse_clashes(self, names: Names = JSON) -> None:
        """Refuse fields that break a rule together."""
        given = self._given_fields()
        for rule in self.rules:
            rule.refuse(given, names)

    def has_any(self, *names: str) -> bool:
        """Return True if any of these fields is given."""
        return not self._given_fields().keys().isdisjoint(names)

    def _given_fields(self) -> Fields:
        fields, defaults = type(self).model_fields, self._defaults()
        values = {fields[name].alias or name: getattr(self, name) for name in self.model_fields_set}
        return {name: value for name, value in values.items() if name not in defaults or value != defaults[name]}

    @classmethod
    @cache
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
        rules = [described for rule in cls.rules if (described := rule.schema(cls._defaults()))]
        own |= {"allOf": rules} if rules else {}
        return schema

"""Rules for combining the fields of a request; they refuse a request and also describe it.

A field is *given* if it differs from its default. Rules name fields as JSON does, and sentences name them in braces, so
that every caller sees the names it uses. Rules also refuse what JSON Schema cannot express, such as two numbers that
must be equal.
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
    """A condition on the fields of a request."""

    @abstractmethod
    def refuse(self, fields: Fields, names: Names) -> None:
        """Raise a fault if these fields break the rule."""

    @abstractmethod
    def schema(self, defaults: Fields) -> JsonSchemaValue:
        """Return the rule as JSON Schema; `defaults` are the values of fields that are not given."""


@dataclass(frozen=True)
class Clash(Rule):
    """If a field is given (or has one of some values), none of the others may be; `{other}` names the first.

    Generators of requests give up on a schema with too many rules, so one may be left undescribed.
    """

    field: str
    others: Sequence[str]
    sentence: str
    values: Sequence[Any] = ()
    is_described: bool = True

    def refuse(self, fields: Fields, names: Names) -> None:
        if self.field not in fields or (self.values and fields[self.field] not in self.values):
            return
        for other in self.others:
            if other in fields:
                raise Fault(names.fill(self.sentence, other=names.name(other)))

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        if not self.is_described:
            return {}
        value = {"enum": list(self.values)} if self.values else {"not": {"const": defaults[self.field]}}
        others = {other: {"const": defaults[other]} for other in self.others}
        return {"if": {"properties": {self.field: value}, "required": [self.field]}, "then": {"properties": others}}


@dataclass(frozen=True)
class ClashInside(Rule):
    """If a field is given, a table in another may not have some names; `{other}` is the first."""

    field: str
    table: str
    inner: Sequence[str]
    sentence: str

    def refuse(self, fields: Fields, names: Names) -> None:
        for name in self.inner:
            if self.field in fields and name in fields.get(self.table, {}):
                raise Fault(names.fill(self.sentence, other=names.name(f"{self.table}.{name}")))

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        none = {"properties": dict.fromkeys(self.inner, False)}
        return {"if": _given(self.field, defaults), "then": {"properties": {self.table: none}}}


@dataclass(frozen=True)
class Need(Rule):
    """A field that may only be given together with another.

    Generators of requests give up on a schema with too many such pairs, so one may be left undescribed.
    """

    field: str
    other: str
    sentence: str
    is_described: bool = True

    def refuse(self, fields: Fields, names: Names) -> None:
        if self.field in fields and self.other not in fields:
            raise Fault(names.fill(self.sentence))

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        return {"if": _given(self.field, defaults), "then": _given(self.other, defaults)} if self.is_described else {}


@dataclass(frozen=True)
class OfOneText(Rule):
    """A field that applies to a single text."""

    field: str

    def refuse(self, fields: Fields, names: Names) -> None:
        if self.field in fields and len(fields["text"]) != 1:
            raise Fault(f"{names.name(self.field)} applies to one output; give one text.")

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        return {"if": _given(self.field, defaults), "then": _texts(1, 1)}


@dataclass(frozen=True)
class OneForEach(Rule):
    """A list with one entry for all texts, or one for each; if it `nests`, only a list of lists counts."""

    field: str
    nests: bool = False

    def refuse(self, fields: Fields, names: Names) -> None:
        values, texts = fields.get(self.field), len(fields["text"])
        if values is None or len(values) in (1, texts) or (self.nests and not (values and isinstance(values[0], list))):
            return
        name = names.name(self.field)
        raise Fault(f"There are {len(values)} of {name} for {texts} texts; give one for all, or one for each.")

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        """Return the schema: several entries need several texts, none needs no text; it cannot compare counts."""
        items = {"items": {"type": "array"}} if self.nests else {}
        several = {"properties": {self.field: {"type": "array", "minItems": 2, **items}}, "required": [self.field]}
        rules = [{"if": several, "then": _texts(2)}]
        if not self.nests:
            none = {"properties": {self.field: {"const": []}}, "required": [self.field]}
            rules.append({"if": none, "then": {"properties": {"text": {"const": []}}}})
        return {"allOf": rules}


@dataclass(frozen=True)
class NoMore(Rule):
    """A number that may not exceed another, or its default; it only applies if a third field is given."""

    field: str
    most: str
    default: int
    beside: str
    sentence: str  # with {value} and {limit}

    def refuse(self, fields: Fields, names: Names) -> None:
        value, limit = fields.get(self.field, 0), fields.get(self.most, self.default)
        if self.beside in fields and value > limit:
            raise Fault(names.fill(self.sentence, value=value, limit=limit))

    def schema(self, defaults: Fields) -> JsonSchemaValue:
        return {}  # JSON Schema cannot compare two


def _given(field: str, defaults: Fields) -> JsonSchemaValue:
    return {"properties": {field: {"not": {"const": defaults[field]}}}, "required": [field]}


def _texts(least: int, most: int | None = None) -> JsonSchemaValue:
    """Return the schema of this many texts; one need not be a list."""
    several = {"type": "array", "minItems": least, **({} if most is None else {"maxItems": most})}
    return {"properties": {"text": several if least > 1 else {"anyOf": [{"type": "string"}, several]}}}


class VerbRequest(Options):
    """A request to a verb; its fields must satisfy its rules."""

    verb: ClassVar[str] = ""  # name of the verb
    items: ClassVar[str] = ""  # field whose values are answered one by one
    rules: ClassVar[tuple[Rule, ...]] = ()

    @classmethod
    def read(cls, table: dict[str, Any], names: Names = JSON) -> Self:
        """Make a request from a table, or raise one fault that lists everything wrong with it."""
        return check(cls, table, names.whole, names.place, context=names, table_word=names.table_word)

    @model_validator(mode="after")
    def _agree(self, info: ValidationInfo) -> Self:
        self.refuse_clashes(info.context or JSON)
        return self

    def refuse_clashes(self, names: Names = JSON) -> None:
        """Refuse fields that break a rule together."""
        fields = self._given_fields()
        for rule in self.rules:
            rule.refuse(fields, names)

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
        definition = handler.resolve_ref_schema(schema)
        rules = [described for rule in cls.rules if (described := rule.schema(cls._defaults()))]
        definition |= {"allOf": rules} if rules else {}
        return schema

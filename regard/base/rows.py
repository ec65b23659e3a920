"""Attention scores, normalisers and exports by name, including those of plugins; without torch.

Built-in ones are made in `regard/attention` and `regard/engines`; a plugin's row says where its own is.
"""

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import core_schema

from regard.base.plugins import Source, Table


@dataclass(frozen=True)
class ScoreRow:
    """An attention score: a function (query_depth, key_depth, hidden) that makes it, as module:name."""

    make: str | None = None


@dataclass(frozen=True)
class NormaliserRow:
    """A normaliser of attention: a function (scores, mask) -> weights, as module:name."""

    normalise: str | None = None


@dataclass(frozen=True)
class ExportRow:
    """A format to export to: a function (model, place, remark) that writes it, as module:name."""

    write: str | None = None


_SCORES = ("dot", "scaled-dot", "bilinear", "additive", "location", "mixed")
_NORMALISERS = ("softmax", "plain", "sparsemax", "entmax")
SCORES: Table[str, ScoreRow] = Table("scores", "score", ScoreRow, dict.fromkeys(_SCORES, ScoreRow()))
NORMALISERS: Table[str, NormaliserRow] = Table(
    "normalisers", "normaliser", NormaliserRow, dict.fromkeys(_NORMALISERS, NormaliserRow())
)
FORMATS = ("ctranslate2", "onnx", "html", "marian", "gpt2", "bert", "arpa", "mapped", "word2vec", "word2vec-binary",
           "glove", "fasttext")  # fmt: skip
EXPORTS: Table[str, ExportRow] = Table("exports", "export", ExportRow, dict.fromkeys(FORMATS, ExportRow()))


@dataclass(frozen=True)
class OrRowOf:
    """Let an option with some built-in names also take the names that plugins add to a table."""

    table: Table[str, Any]

    def source(self, name: str) -> Source | None:
        """Return the plugin that a name comes from; None for a built-in one."""
        return self.table.source(name)

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_wrap_validator_function(
            self._take,
            handler(source),
            serialization=core_schema.plain_serializer_function_ser_schema(lambda value: value),
        )

    def _take(self, value: Any, check: Any) -> Any:
        try:
            return check(value)
        except ValidationError:
            if isinstance(value, str) and value not in self.table.shipped and value in self.table:
                return value
            raise

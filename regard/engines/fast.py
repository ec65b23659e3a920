"""The fast engine of a model folder: the export that it holds, whichever it is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.ctranslate2 import engine as ctranslate2
from regard.engines.exported import CTRANSLATE2, ONNX
from regard.engines.onnx import engine as onnx_engine
from regard.engines.translated import Translated

Named = Literal["ctranslate2", "onnx"]
Choice = Literal["auto", "torch", "ctranslate2", "onnx"]
CALLED: dict[str, str] = {CTRANSLATE2: "CTranslate2", ONNX: "onnxruntime"}
_MAKERS = {CTRANSLATE2: ctranslate2, ONNX: onnx_engine}  # the first that a folder has an export for is taken


class FastEngine(Protocol):
    """What translates texts without torch."""

    name: Named
    source: Tokeniser
    target: Tokeniser
    decoding: DecodingOptions  # the search that the model's recipe asks for
    longest: int  # tokens of a text, its end counted
    learnt: int  # those of the longest text that the model learnt from
    language: str  # of the texts, if it is known
    shares_shortlist: bool  # whether what may be written depends on the other texts of a batch

    def translations(
        self, texts: Sequence[str], options: DecodingOptions, scored: bool = True, explained: bool = False
    ) -> list[Translated]:
        """The best output of each text, and its other candidates."""


def load_fast(folder: Path, choice: Choice = "auto") -> FastEngine | None:
    """The engine of that name, whose export must be there; by auto any that has one, or none."""
    if choice == "torch":
        return None
    there = _exports(folder) if choice == "auto" else [choice]
    return _MAKERS[there[0]].load_engine(folder) if there else None


def load_fastest_alone(folder: Path, choice: Choice = "auto") -> FastEngine | None:
    """The engine that is faster with a sentence alone than the one for batches is, if a folder has exports for both."""
    both = choice == "auto" and _exports(folder) == list(_MAKERS)
    return _MAKERS[ONNX].load_engine(folder) if both else None


def _exports(folder: Path) -> list[str]:
    return [name for name, maker in _MAKERS.items() if maker.has_export(folder)]

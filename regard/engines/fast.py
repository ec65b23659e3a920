"""The fast engine of a model folder: the export that it holds, whichever it is."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol

from regard.base.places import find_place
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.exported import CTRANSLATE2, ONNX, is_export
from regard.engines.translated import Translated

Named = Literal["ctranslate2", "onnx"]
Choice = Literal["auto", "torch", "ctranslate2", "onnx"]
CALLED: dict[str, str] = {CTRANSLATE2: "CTranslate2", ONNX: "onnxruntime"}
_LOADERS = {  # what opens an export, imported when one is opened; the first that a folder has an export for is taken
    CTRANSLATE2: "regard.engines.ctranslate2.engine:load_engine",
    ONNX: "regard.engines.onnx.engine:load_engine",
}


class FastEngine(Protocol):
    """Protocol of engines that translate without torch."""

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
    """Load the engine of that name, whose export must be there; by auto any that has one, or none."""
    if choice == "torch":
        return None
    there = _exports(folder) if choice == "auto" else [choice]
    return _load(folder, there[0]) if there else None


def load_fastest_alone(folder: Path, choice: Choice = "auto") -> FastEngine | None:
    """Load the engine that is faster with a sentence alone than the one for batches, if a folder has both exports."""
    both = choice == "auto" and _exports(folder) == list(_LOADERS)
    return _load(folder, ONNX) if both else None


def _load(folder: Path, name: str) -> FastEngine:
    engine: FastEngine = find_place(_LOADERS[name])(folder)
    return engine


def _exports(folder: Path) -> list[str]:
    return [name for name in _LOADERS if is_export(folder / name)]

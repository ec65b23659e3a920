"""The fast engine of a model folder: whichever export it holds."""

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
TextChoice = Literal["auto", "torch", "onnx"]  # for models other than translators
CALLED: dict[str, str] = {CTRANSLATE2: "CTranslate2", ONNX: "onnxruntime"}
CANNOT = "%s cannot do {other}; omit it, or set {engine} to torch."
_LOADERS = {  # loaders, imported on demand; the first with an export is used
    CTRANSLATE2: "regard.engines.ctranslate2.engine:load_engine",
    ONNX: "regard.engines.onnx.engine:load_engine",
}


class FastEngine(Protocol):
    """Protocol of engines that translate without torch."""

    name: Named
    source: Tokeniser
    target: Tokeniser
    decoding: DecodingOptions  # the search set in the model's recipe
    longest: int  # tokens of a text, including its end
    learnt: int  # length of the longest text that the model learnt from
    language: str  # of the texts, if known
    shares_shortlist: bool  # True if the possible outputs depend on the other texts of a batch

    def translations(
        self, texts: Sequence[str], options: DecodingOptions, scored: bool = True, explained: bool = False
    ) -> list[Translated]:
        """Return the best output of each text with its other candidates."""


def load_fast(folder: Path, choice: Choice = "auto") -> FastEngine | None:
    """Load the engine of this name, whose export must exist; with auto, any that has one, or None."""
    if choice == "torch":
        return None
    names = _exports(folder) if choice == "auto" else [choice]
    return _load(folder, names[0]) if names else None


def load_fastest_alone(folder: Path, choice: Choice = "auto") -> FastEngine | None:
    """Load the engine that is faster for single sentences than the one for batches, if a folder has both exports."""
    both = choice == "auto" and _exports(folder) == list(_LOADERS)
    return _load(folder, ONNX) if both else None


def _load(folder: Path, name: str) -> FastEngine:
    engine: FastEngine = find_place(_LOADERS[name])(folder)
    return engine


def _exports(folder: Path) -> list[str]:
    return [name for name in _LOADERS if is_export(folder / name)]

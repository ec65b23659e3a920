"""A model folder that translates requests: with its export if that can do it, else with torch.

The command line and the server both use this class; torch is loaded when first needed.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from regard.base.faults import Fault
from regard.base.model_folder import CERTAINTY, RECIPE, read_folder, read_manifest, read_recipe
from regard.base.recipe import check, faults_of
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.fast import Choice, FastEngine, load_fast
from regard.engines.translated import Cutting, Translated
from regard.verbs.translate.certainty import Certainty, certainty_in
from regard.verbs.translate.plan import Engine, Piece, Plan, cutting_for, plan_for
from regard.verbs.translate.request import ModelName, TranslateRequest

if TYPE_CHECKING:
    from regard.loading import Loaded
    from regard.verbs.translate.model import TranslationModel
    from regard.verbs.translate.run import Run
    from regard.verbs.translate.stages import TranslationStages


class FolderTranslator:
    """A named model folder; `find` returns other translators by name, for ensembles and reranking.

    `find_language_model` returns language models by name.
    """

    def __init__(
        self,
        folder: Path,
        engine: Choice = "auto",
        precision: Literal["float32", "bf16"] = "float32",
        name: str | None = None,
        find: "Callable[[str], FolderTranslator] | None" = None,
        find_language_model: "Callable[[str], Loaded] | None" = None,
    ) -> None:
        self.folder, self.name = folder, name or str(folder)
        self._choice, self._precision, self._lock = engine, precision, Lock()
        self._find, self._find_language_model = find, find_language_model
        self.recipe = read_recipe(folder)
        self._open_engine: FastEngine | None = None

    @cached_property
    def fast(self) -> FastEngine | None:
        """The engine of its export, if it has one that may be used."""
        self._open_engine = load_fast(self.folder, self._choice)
        return self._open_engine

    @property
    def model(self) -> "TranslationModel":
        """The torch model, loaded when first needed."""
        with self._lock:
            return self._model

    @cached_property
    def _model(self) -> "TranslationModel":
        from regard.verbs.translate.model import load_translation_model

        return load_translation_model(self.folder, precision=self._precision)

    # Description

    @property
    def engines(self) -> list[Engine]:
        return [*(engine.name for engine in self.exports), "torch"]

    @property
    def exports(self) -> list[FastEngine]:
        """The engines of its exports that may be used."""
        return [] if self.fast is None else [self.fast]

    @cached_property
    def decoding(self) -> DecodingOptions:
        """The search options of its recipe."""
        with faults_of(self.folder / RECIPE):
            return check(DecodingOptions, self.recipe.get("decoding", {}))

    @cached_property
    def certainty(self) -> Certainty | None:
        """The usual certainty of its outputs, if its folder records it."""
        names = [name for name in read_manifest(self.folder) if name == CERTAINTY]
        return certainty_in(read_folder(self.folder, names), self.folder) if names else None

    @property
    def longest(self) -> int:
        """Tokens of the longest sentence it accepts, including the end."""
        return int(self.recipe["model"]["longest"])

    @property
    def learnt(self) -> int:
        """Tokens of the longest sentence it was trained on, including the end."""
        return min(self.longest, int(self.recipe["data"]["cleaning"]["longest"]) + 1)

    @property
    def tokenisers(self) -> tuple[Tokeniser, Tokeniser]:
        """The tokenisers of source and target, from whichever engine is already loaded."""
        if self._open_engine is not None:
            return self._open_engine.source, self._open_engine.target
        return self.model.task.source, self.model.task.target

    def target_tokens(self, pieces: Sequence[str], text: str) -> list[int]:
        """Return the tokens of a text's output, given their names."""
        return self.model.target_tokens(pieces, text, self.name)

    # Translation

    def plan(self, request: TranslateRequest) -> Plan:
        """Plan how to translate a request."""
        return plan_for(request, self.decoding, lambda: None if self.fast is None else self.fast.name)

    def cutting(self, request: TranslateRequest, longest: int | None = None) -> Cutting:
        """Return how to split texts into sentences; long ones are split to at most `longest` tokens."""
        source, language = self.tokenisers[0], str(self.recipe["data"]["source_language"])
        return cutting_for(request, language, source, self.learnt if longest is None else min(self.learnt, longest))

    def runner(self, plan: Plan) -> "Run":
        """Return a function that translates sentences by a plan; this loads everything it needs.

        Outputs of a search are marked if the model is unsure of them. Requested alignments are computed at once, in the
        thread that owns the model.
        """
        run, certainty = self._runner(plan), self.certainty
        if not plan.explained:
            return run
        if certainty is None or not plan.is_searched:
            return lambda pieces: _explain(run(pieces))
        return lambda pieces: certainty.mark(_explain(run(pieces)))

    def _runner(self, plan: Plan) -> "Run":
        if plan.engine != "torch":
            return partial(self._run_export, plan)
        from regard.verbs.translate.run import runner

        model = self._with_others(plan.together)
        return runner(model, plan, self._other, self._language_model, self.name)

    def stages(self, plan: Plan) -> "TranslationStages | None":
        """Return stages of translation that can overlap, if this plan is a plain search on a GPU."""
        if plan != Plan(plan.options, explained=False, count=plan.count):
            return None
        from regard.verbs.translate.stages import stages_of

        return stages_of(self.model, plan.options)

    def run(self, plan: Plan, pieces: Sequence[Piece]) -> list[Translated]:
        """Return the translations of sentences in order; an error names a sentence by its number."""
        return self.runner(plan)(pieces)

    def _run_export(self, plan: Plan, pieces: Sequence[Piece]) -> list[Translated]:
        engine = next(engine for engine in self.exports if engine.name == plan.engine)
        texts = [piece.text for piece in pieces]
        return engine.translations(texts, plan.options, plan.explained, plan.explained)

    def _with_others(self, names: Sequence[str]) -> "TranslationModel":
        """Return the model, as an ensemble with others of the same vocabulary."""
        if not names:
            return self.model
        others = [self._other(name) for name in names]
        for name, other in zip(names, others, strict=True):
            if not self.model.has_tokens_of(other):
                raise Fault(f"{name} and {self.name} have different tokens; combine models of one corpus.")
        return self.model.together(others)

    def _other(self, name: ModelName) -> "TranslationModel":
        assert self._find is not None
        assert isinstance(name, str)
        return self._find(name).model

    def _language_model(self, name: ModelName) -> "Loaded":
        assert self._find_language_model is not None
        assert isinstance(name, str)
        return self._find_language_model(name)


def _explain(translations: list[Translated]) -> list[Translated]:
    for translation in translations:
        _ = translation.alignment
    return translations

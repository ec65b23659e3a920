"""A model folder that translates what is asked for: by its export where that can do it, else by torch.

The command line and the server both translate by this class; torch is loaded when it is first needed.
"""

from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Literal

from regard.base.faults import Fault, faults_numbered
from regard.base.model_folder import CERTAINTY, RECIPE, read_folder, read_manifest, read_recipe
from regard.base.recipe import check, faults_of
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.fast import Choice, FastEngine, load_fast
from regard.engines.translated import Cutting, Translated
from regard.verbs.translate.certainty import Certainty, certainty_in
from regard.verbs.translate.plan import Engine, Job, Piece, Plan, plan_for
from regard.verbs.translate.request import TranslateRequest

if TYPE_CHECKING:
    from regard.loading import Loaded
    from regard.verbs.translate.fusion import Fusion
    from regard.verbs.translate.model import TranslationModel
    from regard.verbs.translate.stages import TranslationStages
    from regard.verbs.translate.translator import Rank

Run = Callable[[Sequence[Piece]], list[Translated]]  # translations of sentences, in their order


class FolderTranslator:
    """A model folder under a name; `find` gives other translators by their names, to write along or to rerank.

    `find_language_model` gives models that know how probable a text is.
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
        """The engine of its export, if it has one that may be taken."""
        self._open_engine = load_fast(self.folder, self._choice)
        return self._open_engine

    @property
    def model(self) -> "TranslationModel":
        """The model by torch, loaded when it is first needed."""
        with self._lock:
            return self._model

    @cached_property
    def _model(self) -> "TranslationModel":
        from regard.verbs.translate.model import load_translation_model

        return load_translation_model(self.folder, precision=self._precision)

    # What it is

    @property
    def engines(self) -> list[Engine]:
        return [*(engine.name for engine in self.exports), "torch"]

    @property
    def exports(self) -> list[FastEngine]:
        """The engines of its exports that may be taken."""
        return [] if self.fast is None else [self.fast]

    @cached_property
    def decoding(self) -> DecodingOptions:
        """The search that its recipe asks for."""
        with faults_of(self.folder / RECIPE):
            return check(DecodingOptions, self.recipe.get("decoding", {}))

    @cached_property
    def certainty(self) -> Certainty | None:
        """How sure it usually is of its outputs, as far as its folder says so."""
        names = [name for name in read_manifest(self.folder) if name == CERTAINTY]
        return certainty_in(read_folder(self.folder, names), self.folder) if names else None

    @property
    def longest(self) -> int:
        """Tokens of the longest sentence it takes, the end counted."""
        return int(self.recipe["model"]["longest"])

    @property
    def learnt(self) -> int:
        """Those of the longest that it learnt from."""
        return min(self.longest, int(self.recipe["data"]["cleaning"]["longest"]) + 1)

    @property
    def tokenisers(self) -> tuple[Tokeniser, Tokeniser]:
        """Those of source and target, of the engine that is loaded already."""
        if self._open_engine is not None:
            return self._open_engine.source, self._open_engine.target
        return self.model.task.source, self.model.task.target

    @cached_property
    def _numbers(self) -> dict[str, int]:
        target = self.tokenisers[1]
        return {piece: token for token, piece in reversed(list(enumerate(target.pieces(range(target.size)))))}

    def target_tokens(self, pieces: Sequence[str], text: str) -> list[int]:
        """The tokens of an output for a text by their names."""
        target = self.model.task.target_for(text)
        beyond = range(self.model.task.target.size, target.size)  # words that can only be copied from the text
        numbers = ChainMap(self._numbers, dict(zip(target.pieces(beyond), beyond, strict=True)))
        unknown = next((piece for piece in pieces if piece not in numbers), None)
        if unknown is not None:
            raise Fault(f"{unknown[:40]!r} is not a token of the model {self.name}.")
        if len(pieces) > self.longest - 1:
            raise Fault(f"There are {len(pieces)} tokens, but an output has {self.longest - 1} at most.")
        return [numbers[piece] for piece in pieces]

    # What it does

    def plan(self, request: TranslateRequest) -> Plan:
        """How it translates what is asked for."""
        return plan_for(request, self.decoding, lambda: None if self.fast is None else self.fast.name)

    def cutting(self, request: TranslateRequest, longest: int | None = None) -> Cutting:
        """How texts become sentences that it can read, of at most so many tokens where long ones are split."""
        source, _ = self.tokenisers
        return Cutting(
            str(self.recipe["data"]["source_language"]),
            lambda text: len(source.encode(text)) + 1,
            self.learnt if longest is None else min(self.learnt, longest),
            request.splits_sentences,
            request.long_texts,
        )

    def runner(self, plan: Plan) -> Run:
        """What translates sentences by a plan; all that it needs is loaded here.

        What was searched for is marked where the model is unsure of it; what was drawn or given says nothing of that.
        """
        run, certainty = self._runner(plan), self.certainty
        if certainty is None or not plan.explained or plan.draws or plan.forced:
            return run
        return lambda pieces: certainty.mark(run(pieces))

    def _runner(self, plan: Plan) -> Run:
        if plan.engine != "torch":
            return partial(self._run_export, plan)
        if plan.forced:
            model = self.model
            return lambda pieces: _explain(plan, model.translate_as(*_texts_and_outputs(pieces)))
        if plan.before is not None:
            return partial(self._run_on, plan, plan.before)
        model = self._with_others(plan.together)
        return partial(_run_search, plan, model, self._fusion(plan, model), self._rank(plan, model))

    def stages(self, plan: Plan) -> "TranslationStages | None":
        """Translating in stages that can overlap, if this plan is a plain search on a GPU."""
        if plan != Plan("torch", plan.options, explained=False, count=plan.count):
            return None
        from regard.verbs.translate.stages import stages_of

        return stages_of(self.model, plan.options)

    def run(self, plan: Plan, pieces: Sequence[Piece]) -> list[Translated]:
        """The translations of sentences, in their order; what is wrong with one is told by its number."""
        return self.runner(plan)(pieces)

    def _run_export(self, plan: Plan, pieces: Sequence[Piece]) -> list[Translated]:
        engine = next(engine for engine in self.exports if engine.name == plan.engine)
        texts = [piece.text for piece in pieces]
        return _explain(plan, engine.translations(texts, plan.options, plan.explained, plan.explained))

    def _run_on(self, plan: Plan, before: Sequence[str], pieces: Sequence[Piece]) -> list[Translated]:
        from regard.verbs.translate.continuing import continue_from

        begun = [self.target_tokens(before, piece.text) for piece in pieces]
        given = zip(pieces, begun, strict=True)
        return [continue_from(self.model, piece.text, tokens, plan.options) for piece, tokens in given]

    def _with_others(self, names: Sequence[str]) -> "TranslationModel":
        """Its model, as one with others of the same tokens."""
        if not names:
            return self.model
        others = [self._other(name).model for name in names]
        for name, other in zip(names, others, strict=True):
            if not self.model.has_tokens_of(other):
                raise Fault(f"{name} cuts text into other tokens than {self.name}; combine models of one corpus.")
        return self.model.together(others)

    def _other(self, name: str) -> "FolderTranslator":
        assert self._find is not None
        return self._find(name)

    def _fusion(self, plan: Plan, model: "TranslationModel") -> "Fusion | None":
        from regard.verbs.translate.fusion import fusion_of

        if plan.fuse is None:
            return None
        name, weight = plan.fuse
        return fusion_of(model, self._language_model(name), weight, name, self.name)

    def _language_model(self, name: str) -> "Loaded":
        assert self._find_language_model is not None
        return self._find_language_model(name)

    def _rank(self, plan: Plan, model: "TranslationModel") -> "Rank | None":
        from regard.decoding.rerank import Channel
        from regard.verbs.translate.fusion import as_language_model
        from regard.verbs.translate.reranking import by_channel, by_risk

        if plan.risk is not None:
            return by_risk(model, plan.risk, plan.count)
        if plan.channel is not None:
            name, weight = plan.channel
            prior, prior_weight = (None, 0.0) if plan.prior is None else plan.prior
            language_model = None if prior is None else as_language_model(self._language_model(prior), prior)
            channel = Channel(weight, prior_weight)
            return by_channel(model, self._other(name).model, channel, language_model, plan.count)
        return None


def _run_search(
    plan: Plan,
    model: "TranslationModel",
    fusion: "Fusion | None",
    rank: "Rank | None",
    pieces: Sequence[Piece],
) -> list[Translated]:
    from regard.verbs.translate.search import Constraints, Search

    constraints = Constraints(
        [piece.prefix for piece in pieces] if plan.begins else (),
        [piece.required for piece in pieces] if plan.requires else (),
        plan.forbidden,
        plan.allowed,
    )
    search = Search(plan.options, plan.draws, constraints, fusion)
    texts, keys = [piece.text for piece in pieces], [piece.key for piece in pieces]
    dictionary = None if plan.dictionary is None else dict(plan.dictionary)
    return _explain(plan, model.translate_by(texts, search, keys, rank, dictionary))


def _texts_and_outputs(pieces: Sequence[Piece]) -> tuple[list[str], list[str]]:
    return [piece.text for piece in pieces], [piece.output for piece in pieces]


def _explain(plan: Plan, found: list[Translated]) -> list[Translated]:
    """Work out alignments that are asked for here and now, in the thread that owns the model."""
    if plan.explained:
        for each in found:
            _ = each.alignment
    return found


def run_job(run: Run, job: Job) -> list[Translated]:
    """The translations of a job's texts, in their order; what is wrong with a text is told by its number."""
    with faults_of_job(job):
        return job.join(run(job.pieces))


@contextmanager
def faults_of_job(job: Job) -> Iterator[None]:
    """Tell what is wrong with a sentence by the number of its text."""
    with faults_numbered([index for index, _ in job.places]):
        yield

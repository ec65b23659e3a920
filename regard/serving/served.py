"""A served model: a folder under a name, what it is, and what it can do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from regard.base.faults import Fault
from regard.base.pauses import load_beside_pauses
from regard.base.requests.rules import VerbRequest
from regard.engines.exported import ONNX, has_graphs, read_export
from regard.engines.fast import Choice, FastEngine, load_fastest_alone
from regard.families.abilities import ADDRESS, is_followed, refusal
from regard.families.model_folder import Description
from regard.serving.known import known_of, read_scores
from regard.serving.languages import is_named, name_of
from regard.serving.records import CertaintyAnswer, Language, ModelAnswer, TranslatorAnswer
from regard.tasks import TASKS, Reads, input_kind
from regard.verbs.table import run_of, verb_doors
from regard.verbs.translate.folder_translator import FolderTranslator
from regard.verbs.translate.plan import Plan
from regard.verbs.translate.request import TranslateRequest

if TYPE_CHECKING:
    from regard.verbs.translate.model import TranslationModel


class Served(ABC):
    """A named model: what it reads, and what it gives."""

    name: str
    reads: Reads
    gives: str
    verb: str  # main verb of its task
    others: "Mapping[str, Served]" = {}  # all served models by name

    @property
    @abstractmethod
    def model(self) -> Any:
        """The loaded model."""

    @property
    @abstractmethod
    def can(self) -> Sequence[str]:
        """Abilities of the model, which decide which doors are open."""

    @abstractmethod
    def describe(self) -> ModelAnswer:
        """Return everything that the page needs to know about it."""

    @property
    def verbs(self) -> Sequence[str]:
        """The abilities that have an address."""
        return self.can

    @property
    def loaded_description(self) -> Description | None:
        """Facts about the model, if it is loaded."""
        return None

    @property
    def origin(self) -> Path | None:
        """The folder that it was loaded from, if there is one."""
        return None

    @property
    def card(self) -> str:
        """The address of its model card, from the page."""
        return f"card?{urlencode({'model': self.name})}"

    def refuse(self, verb: str) -> Fault:
        """Return a fault that the model cannot do this, and which address to use instead."""
        gives = f"The model {self.name} does not answer at {ADDRESS.format(verb)}: it gives {self.gives}"
        return Fault(refusal(gives, verb, self.verbs, self.verb, ADDRESS))

    def ask(self, request: VerbRequest, **more: Any) -> list[Any]:
        """Answer a request in the thread that owns the model."""
        return list(run_of(request.verb)(self.model, request, **more))


class ServedModel(Served):
    """A model folder of any kind."""

    def __init__(self, name: str, folder: Path, engine: Choice = "auto") -> None:
        from regard.model import load
        from regard.serving.parts import pause_between_parts
        from regard.verbs.look.reasons import explained_verbs

        self.name, self.folder, self._model = name, folder, load(folder)
        pause_between_parts(self.model.task)
        if engine == "torch":
            self.model.exports["auto"] = None  # for requests that leave the engine to the server
        elif engine == ONNX and has_graphs(self.model.recipe.family):
            read_export(folder / ONNX)  # refuse a model without it now rather than answer with torch
        kind = TASKS[self.model.recipe.task]
        self.reads, self.gives, self.verb = input_kind(self.model.recipe), kind.gives, kind.verb
        self._explained = explained_verbs(self.model)

    @property
    def origin(self) -> Path:
        return self.folder

    @property
    def model(self) -> Any:
        return self._model

    @property
    def loaded_description(self) -> Description:
        return Description(self.model.recipe, self.model.facts(), {})

    @property
    def can(self) -> Sequence[str]:
        verbs_with_door = {door.can for door in verb_doors()}
        verbs = [verb for verb in self.model.verbs if verb in verbs_with_door]
        followed = ["forward"] if is_followed(self.model.recipe.family, self.model.recipe.task) else []
        return [*verbs, *followed, *self._explained]

    def describe(self) -> ModelAnswer:
        recipe = self.model.recipe
        return ModelAnswer(
            **known_of(self.folder) | {"parameters": self.model.parameters},
            name=self.name,
            task=recipe.task,
            reads=self.reads,
            family=recipe.family,
            preset=getattr(recipe.model, "preset", None),
            context=getattr(recipe.model, "context", None),
            pairs=getattr(recipe.data, "has_pairs", False),
            speakers=self.model.task.voices.speakers if "speak" in self.can else [],
            extent=self.model.task.extent if self.reads == "drawing" else None,
            can=list(self.can),
            scores=read_scores(self.folder),
            card=self.card,
        )


class ServedTranslator(FolderTranslator, Served):
    """A translator in a model folder."""

    def __init__(self, name: str, folder: Path, engine: Choice = "auto") -> None:
        super().__init__(
            folder,
            engine,
            name=name,
            find=self._find_translator,
            find_language_model=lambda other: self.others[other].model,
        )
        data = self.recipe["data"]
        self.source, self.target = str(data["source_language"]), str(data["target_language"])
        kind = TASKS["translation"]
        self.reads, self.gives, self.verb = kind.reads, kind.gives, kind.verb
        self._alone = load_fastest_alone(folder, engine)
        self.waiting: Callable[[], int] = lambda: 0  # number of waiting sentences
        if self.fast is None:
            _ = self.model  # load now, so that nobody waits later

    def _find_translator(self, name: str) -> FolderTranslator:
        other = self.others[name]
        assert isinstance(other, ServedTranslator)
        return other

    @property
    def origin(self) -> Path:
        return self.folder

    @property
    def model(self) -> "TranslationModel":
        """The torch model, loaded when first needed; meanwhile the export serves other requests."""
        return self._model if self._is_loaded else load_beside_pauses(self._load)

    @property
    def _is_loaded(self) -> bool:
        return "_model" in vars(self)

    @property
    def loaded_description(self) -> Description | None:
        return Description(self.model.recipe, self.model.facts(), {}) if self._is_loaded else None

    def _load(self) -> "TranslationModel":
        return super().model

    @cached_property
    def _model(self) -> "TranslationModel":
        from regard.serving.parts import pause_between_parts

        model = super()._model
        pause_between_parts(model.task)
        return model

    @property
    def exports(self) -> list[FastEngine]:
        return super().exports + ([] if self._alone is None else [self._alone])

    def plan(self, request: TranslateRequest) -> Plan:
        """Plan a translation; with two exports, a single sentence goes to one, and several go to the other."""
        plan = super().plan(request)
        if self._alone is None or plan.engine == "torch":
            return plan
        is_alone = request.engine == self._alone.name or (request.engine == "auto" and self._is_alone(request))
        return replace(plan, engine=self._alone.name) if is_alone else plan

    def _is_alone(self, request: TranslateRequest) -> bool:
        """Return True for a single sentence while no others wait that could share a batch."""
        return not self.waiting() and len(request.text) == 1 and len(self.cutting(request)(request.text[0])) == 1

    @property
    def can(self) -> Sequence[str]:
        always = ("translate", "sample", "force", "prefix", "constrain", "next", "beam", "embed")
        looks = ("attention",) if self.blocks else ()
        followed = ("forward",) if is_followed(self.recipe["family"], "translation") else ()
        return (*always, *looks, *followed, "why", "examples")

    @property
    def verbs(self) -> Sequence[str]:
        verbs = ("translate", "embed", "attention", "next", "beam", "forward", "why", "examples")
        return [verb for verb in verbs if verb in self.can]

    def describe(self) -> TranslatorAnswer:
        return TranslatorAnswer(
            **known_of(self.folder),
            name=self.name,
            task="translation",
            reads=self.reads,
            family=self.recipe["family"],
            preset=self.recipe["model"].get("preset"),
            can=list(self.can),
            scores=read_scores(self.folder),
            card=self.card,
            source=_language(self.source),
            target=_language(self.target),
            engine=self.engines[0],
            engines=list(self.engines),
            longest=self.longest,
            blocks=self.blocks,
            decoding=self.decoding.model_dump(),
            certainty=self.certainty and CertaintyAnswer(**self.certainty.model_dump()),
        )

    @cached_property
    def blocks(self) -> dict[str, list[int]]:
        """The number of heads of each block, for each side with attention."""
        options, family = self.recipe["model"], self.recipe["family"]
        if family == "transformer":
            decoder = [options.get("decoder_heads") or options["heads"]] * options["decoder_layers"]
            encoder = [] if options.get("encoder") == "recurrent" else [options["heads"]] * options["encoder_layers"]
            sides = {"encoder": encoder, "decoder": decoder, "cross": decoder}
        elif family == "seq2seq":
            blocks = options["encoder_layers"] if options.get("encoder") == "transformer" else 0
            cross = [] if options.get("decoder") == "bottleneck" else [options.get("heads", 1)]
            sides = {"encoder": [options.get("encoder_heads")] * blocks, "cross": cross}
        else:
            sides = {"cross": [] if options.get("decoder") == "bottleneck" else [1]}
        return {side: heads for side, heads in sides.items() if heads}


def _language(code: str) -> Language:
    return Language(code=code if is_named(code) else "", name=name_of(code))


def unique_names(folders: Sequence[Path]) -> list[str]:
    """Return a name for each folder: its own, with a number if that is taken."""
    names: list[str] = []
    for folder in folders:
        base_name = folder.resolve().name or "model"
        numbered = (f"{base_name}-{number}" for number in range(2, len(folders) + 2))
        names.append(base_name if base_name not in names else next(name for name in numbered if name not in names))
    return names

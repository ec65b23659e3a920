"""A model that is served: a folder under a name, what it is, what it can do, and what its work costs."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.base.faults import Fault, TextFault
from regard.base.pauses import between_steps, load_beside_pauses
from regard.base.progress import ignore_remark
from regard.engines.fast import Choice, FastEngine, load_fastest_alone
from regard.engines.translated import Translated
from regard.families.abilities import ADDRESS, refusal
from regard.serving.doors.model_records import (
    CertaintyAnswer,
    ModelAnswer,
    TranslatorAnswer,
)
from regard.serving.doors.records import Language
from regard.serving.known import known_of, read_scores
from regard.serving.languages import is_named, name_of
from regard.tasks import TASKS, Reads, input_kind
from regard.verbs.answer.request import AnswerRequest
from regard.verbs.caption.request import CaptionRequest
from regard.verbs.draw.request import DrawRequest
from regard.verbs.generate.request import GenerateRequest, PromptRequest
from regard.verbs.speak.request import SpeakRequest
from regard.verbs.transcribe.request import TranscribeRequest
from regard.verbs.translate.folder_translator import FolderTranslator
from regard.verbs.translate.plan import Piece, Plan
from regard.verbs.translate.request import TranslateRequest
from regard.verbs.words.request import AnalogyRequest, MapRequest, NeighboursRequest

if TYPE_CHECKING:
    from regard.model import Model
    from regard.protocols import Answer, Caption, Drawn, Spoken, Tags, TextVectors, Transcript
    from regard.verbs.generate.continuing import Generated
    from regard.verbs.generate.model import LanguageModel
    from regard.verbs.generate.prompts import ReadPrompt
    from regard.verbs.generate.telling import WrittenToken
    from regard.verbs.translate.model import TranslationModel
    from regard.verbs.words.lexicon import NeighboursOfWord, SolvedAnalogy

# The verbs that the server has doors for.
_ASKED = ("answer", "embed", "neighbours", "analogy", "generate", "speak", "draw", "transcribe", "caption", "look")


class Served(ABC):
    """A model under a name, what it reads, and what it gives for that."""

    name: str
    reads: Reads
    gives: str
    verb: str  # of its kind

    @property
    @abstractmethod
    def can(self) -> Sequence[str]:
        """What may be asked of it; the doors of the server are open by this."""

    @abstractmethod
    def describe(self) -> ModelAnswer:
        """All that a page needs to know of it."""

    @property
    def verbs(self) -> Sequence[str]:
        """Those of them that have an address."""
        return self.can

    def refuse(self, verb: str) -> Fault:
        """Return a fault that says that it cannot do this, and which address to ask instead."""
        gives = f"The model {self.name} does not answer at {ADDRESS.format(verb)}: it gives {self.gives}"
        return Fault(refusal(gives, verb, self.verbs, self.verb, ADDRESS))

    # What it does, in the thread that owns it

    def answer(
        self, inputs: Sequence[Any], request: AnswerRequest, taggers: "Sequence[Model]" = ()
    ) -> "list[Answer | Tags]":
        """Return an answer for each input, which is a text, the number of a node, or the file of a picture.

        How they are answered is as the request says; its own inputs are those of one client, and not yet files.
        """
        raise self.refuse("answer")

    def remark_on(self, given: Any) -> str:
        """Return what is done to a picture before it is read, if anything is."""
        return ""

    def unfold(self, given: str) -> list[str]:
        """The inputs that a text stands for which asks for several things."""
        return [given]

    def generate(self, request: GenerateRequest, number: int = 0) -> "list[list[Generated]]":
        """The texts that go on with each prompt, of which the first has this number."""
        raise self.refuse("generate")

    def generate_aloud(self, request: GenerateRequest, tell: "Callable[[WrittenToken], None]") -> "list[Generated]":
        """The texts for the only prompt of a request; `tell` hears of each token of the first as it is written."""
        raise self.refuse("generate")

    def read_prompt(self, request: PromptRequest) -> "ReadPrompt":
        """How probable the tokens of a prompt are, and what may come next."""
        raise self.refuse("generate")

    def transcribe(self, request: TranscribeRequest) -> "list[Transcript]":
        """What each sound says."""
        raise self.refuse("transcribe")

    def caption(self, request: CaptionRequest, first: int = 0) -> "list[Caption]":
        """Caption each picture, of which the first has this number."""
        raise self.refuse("caption")

    def speak(self, request: SpeakRequest) -> "list[Spoken]":
        """The sound of each text."""
        raise self.refuse("speak")

    def draw(self, request: DrawRequest) -> "list[Drawn]":
        """The drawings of a request."""
        raise self.refuse("draw")

    def embed(self, texts: Sequence[str], layer: int | None) -> "list[TextVectors]":
        """The vectors of each text, in all layers or in one."""
        raise self.refuse("embed")

    def neighbours(self, request: NeighboursRequest) -> "list[NeighboursOfWord]":
        """The words nearest to each word."""
        raise self.refuse("neighbours")

    def analogy(self, request: AnalogyRequest) -> "SolvedAnalogy":
        """What completes an analogy."""
        raise self.refuse("analogy")

    def map_words(self, request: MapRequest) -> dict[str, Any]:
        """A map of words, as its view takes it."""
        raise self.refuse("map")

    def look(self, given: Any, speaker: str | None = None, as_is: bool = False) -> tuple[str, dict[str, Any]]:
        """What it looks at when it reads an input, or when `speaker` says it: a view's name, and what that takes."""
        raise self.refuse("look")


class ServedModel(Served):
    """A model folder of any kind."""

    def __init__(self, name: str, folder: Path) -> None:
        from regard.model import load
        from regard.serving.parts import pause_between_parts

        self.name, self.folder, self.model = name, folder, load(folder)
        pause_between_parts(self.model.task)
        kind = TASKS[self.model.recipe.task]
        self.reads, self.gives, self.verb = input_kind(self.model.recipe), kind.gives, kind.verb

    @property
    def can(self) -> Sequence[str]:
        return [verb for verb in self.model.verbs if verb in _ASKED]

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
        )

    def answer(
        self, inputs: Sequence[Any], request: AnswerRequest, taggers: "Sequence[Model]" = ()
    ) -> "list[Answer | Tags]":
        return self.model.answer(inputs, beam=request.beam, raw=request.raw, tagger=taggers, as_is=request.as_is)

    def remark_on(self, given: Any) -> str:
        from regard.verbs.pictures import remark_on

        text = remark_on(self.model.task, given)
        return text.replace(str(given), given.name) if isinstance(given, Path) else text

    def unfold(self, given: str) -> list[str]:
        from regard.protocols import Unfolds

        return self.model.task.unfold(given) if isinstance(self.model.task, Unfolds) else [given]

    def generate(self, request: GenerateRequest, number: int = 0) -> "list[list[Generated]]":
        return list(self._language.generate_by(request, number))

    def generate_aloud(self, request: GenerateRequest, tell: "Callable[[WrittenToken], None]") -> "list[Generated]":
        return self._language.generate_aloud(request, tell)

    def read_prompt(self, request: PromptRequest) -> "ReadPrompt":
        return self._language.read_prompt(request)

    @property
    def _language(self) -> "LanguageModel":
        from regard.verbs.generate.model import LanguageModel

        assert isinstance(self.model, LanguageModel)
        return self.model

    def transcribe(self, request: TranscribeRequest) -> "list[Transcript]":
        from regard.verbs.transcribe.run import run

        return list(run(self.model, request))

    def caption(self, request: CaptionRequest, first: int = 0) -> "list[Caption]":
        from regard.verbs.caption.run import run

        return list(run(self.model, request, first=first))

    def speak(self, request: SpeakRequest) -> "list[Spoken]":
        from regard.verbs.speak.run import speak_each

        return list(speak_each(self.model.task, request))

    def draw(self, request: DrawRequest) -> "list[Drawn]":
        from regard.verbs.draw.run import draw_each

        return list(draw_each(self.model.task, request))

    def embed(self, texts: Sequence[str], layer: int | None) -> "list[TextVectors]":
        return self.model.embed(texts, layer)

    def neighbours(self, request: NeighboursRequest) -> "list[NeighboursOfWord]":
        return self.model.neighbours(request.words, request.count, request.side)

    def analogy(self, request: AnalogyRequest) -> "SolvedAnalogy":
        return self.model.analogy(*request.words, request.count, request.side)

    def map_words(self, request: MapRequest) -> dict[str, Any]:
        from regard.verbs.words.lexicon import Lexicon
        from regard.verbs.words.maps import map_words
        from regard.viewing.word_map import map_data

        own = self.model.lexicon(request.side)
        lexicon = Lexicon(self.name, own.vectors, own.compose)
        return map_data(map_words(lexicon, request, lambda *done: between_steps(), ignore_remark))

    def look(self, given: Any, speaker: str | None = None, as_is: bool = False) -> tuple[str, dict[str, Any]]:
        from regard.seeing.gazes import refuse_speaker, see_input, see_prompt
        from regard.verbs.generate.model import LanguageModel
        from regard.verbs.pictures import mark_as_is
        from regard.viewing.drawers import page_view

        if isinstance(self.model, LanguageModel):
            refuse_speaker(speaker)
            return page_view(see_prompt(self.model.task, str(given)).between())
        (read,) = mark_as_is(self.model.task, [given]) if as_is else [given]
        sight = see_input(self.model.task, read, speaker)
        if isinstance(given, bytes):  # a sound, which has a name already
            return page_view(sight.between())
        name = given.name if isinstance(given, Path) else str(given)  # a door calls it the picture, or the drawing
        return page_view(replace(sight, text=name).between())


class ServedTranslator(FolderTranslator, Served):
    """A translator in a model folder."""

    def __init__(self, name: str, folder: Path, engine: Choice = "auto") -> None:
        self.others: dict[str, ServedTranslator] = {}  # all that are served, by their names
        self.language_models: dict[str, Model] = {}  # the same
        super().__init__(
            folder,
            engine,
            name=name,
            find=lambda other: self.others[other],
            find_language_model=lambda other: self.language_models[other],
        )
        data = self.recipe["data"]
        self.source, self.target = str(data["source_language"]), str(data["target_language"])
        kind = TASKS["translation"]
        self.reads, self.gives, self.verb = kind.reads, kind.gives, kind.verb
        self._alone = load_fastest_alone(folder, engine)
        if self.fast is None:
            _ = self.model  # loaded now, so that nobody waits for it later

    @property
    def model(self) -> "TranslationModel":
        """The model by torch, which is loaded when it is first needed; meanwhile others are served by the export."""
        return self._model if self._is_loaded else load_beside_pauses(self._load)

    @property
    def _is_loaded(self) -> bool:
        return "_model" in vars(self)

    def _load(self) -> "TranslationModel":
        return super().model

    @cached_property
    def _model(self) -> "TranslationModel":
        from regard.serving.parts import pause_between_parts

        found = super()._model
        pause_between_parts(found.task)
        return found

    @property
    def exports(self) -> list[FastEngine]:
        return super().exports + ([] if self._alone is None else [self._alone])

    def plan(self, request: TranslateRequest) -> Plan:
        """How it translates what is asked for: of two exports, a sentence alone by one and several by the other."""
        plan = super().plan(request)
        if self._alone is None or plan.engine == "torch":
            return plan
        is_alone = request.engine == self._alone.name or (request.engine == "auto" and self._is_one_sentence(request))
        return replace(plan, engine=self._alone.name) if is_alone else plan

    def _is_one_sentence(self, request: TranslateRequest) -> bool:
        return len(request.text) == 1 and len(self.cutting(request)(request.text[0])) == 1

    @property
    def can(self) -> Sequence[str]:
        always = ("translate", "sample", "force", "prefix", "constrain", "next", "beam", "embed")
        return (*always, "attention") if self.blocks else always

    @property
    def verbs(self) -> Sequence[str]:
        return [verb for verb in ("translate", "embed", "attention", "next", "beam") if verb in self.can]

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
        """The heads of each block on each side that has attention."""
        built = self.recipe["model"]
        if self.recipe["family"] == "transformer":
            decoder = [built.get("decoder_heads") or built["heads"]] * built["decoder_layers"]
            return {"encoder": [built["heads"]] * built["encoder_layers"], "decoder": decoder, "cross": decoder}
        return {} if built.get("decoder") == "bottleneck" else {"cross": [1]}

    def embed(self, texts: Sequence[str], layer: int | None) -> "list[TextVectors]":
        from regard.verbs.embed.run import embed_each

        return list(embed_each(self.model.task, texts, layer))

    def costs(self, plan: Plan, pieces: Sequence[Piece]) -> list[float]:
        """What sentences cost: their tokens to read, and to write as many again in every row of the search.

        Outputs are about as long as their sources. The limits of length would count what is hardly ever written.
        """
        others = sum(each is not None for each in (plan.channel, plan.prior, plan.fuse))
        models = 1 + len(plan.together) + others
        found = self.tokenisers[0].encode_all([piece.text for piece in pieces])
        return [float((len(tokens) + 1) * (1 + plan.rows) * models) for tokens in found]

    def run(self, plan: Plan, pieces: Sequence[Piece]) -> list[Translated]:
        """The translations of sentences, which may be of several requests, so that no number tells whose it is."""
        try:
            return super().run(plan, pieces)
        except TextFault as fault:
            raise fault.without_number() from None


def _language(code: str) -> Language:
    return Language(code=code if is_named(code) else "", name=name_of(code))


def unique_names(folders: Sequence[Path]) -> list[str]:
    """A name for each folder: its own, and a number where that is taken."""
    names: list[str] = []
    for folder in folders:
        own = folder.resolve().name or "model"
        numbered = (f"{own}-{number}" for number in range(2, len(folders) + 2))
        names.append(own if own not in names else next(name for name in numbered if name not in names))
    return names

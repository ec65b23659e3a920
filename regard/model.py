"""A trained model in the hand: what `regard.load` gives, and what the commands use."""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regard.base.arguments import naming_arguments
from regard.base.notebook import Results
from regard.base.recipe import Recipe
from regard.base.requests.fields import Held
from regard.base.requests.rules import VerbRequest
from regard.families.abilities import METHOD, needs
from regard.loading import Loaded, load_as
from regard.protocols import Answer, Caption, Drawn, Spoken, Tags, TextVectors, Transcript
from regard.tasks.speaking.options import ROUNDS
from regard.verbs.answer.request import AnswerRequest
from regard.verbs.caption.request import CaptionRequest
from regard.verbs.draw.request import DrawRequest
from regard.verbs.embed.request import EmbedRequest
from regard.verbs.opening import class_for
from regard.verbs.speak.request import SpeakRequest
from regard.verbs.table import run_of
from regard.verbs.transcribe.request import TranscribeRequest
from regard.verbs.translate.request import TranslateRequest, helpers_of

Strokes = list[list[list[float]]]  # of a drawing, each of points (x, y)

if TYPE_CHECKING:
    from regard.engines.fast import Choice
    from regard.engines.translated import Translated
    from regard.verbs.generate.continuing import Generated
    from regard.verbs.generate.request import WhenFull
    from regard.verbs.translate.request import LongTexts
    from regard.verbs.translate.search import Constraints
    from regard.verbs.words.lexicon import Lexicon, NeighboursOfWord, SolvedAnalogy
    from regard.verbs.words.request import VectorSide
    from regard.viewing.seen import Joining
    from regard.viewing.view import View
    from regard.viewing.word_map import WordMap


class Model(Loaded):
    """A model with its task and its recipe.

    What it can be asked for are its `verbs`; the methods of other verbs refuse, in a sentence that says what it can.
    """

    def __init__(self, task: Any, recipe: Recipe) -> None:
        super().__init__(task, recipe)
        self._lexicons: dict[VectorSide, Lexicon] = {}

    def ask(self, kind: type[VerbRequest], **fields: Any) -> list[Any]:
        """Answer a request of a verb, by what runs the verb; fields that are None are left out."""
        needs(self.recipe, kind.verb, METHOD)
        given = {name: value for name, value in fields.items() if value is not None}
        if kind.items and not given[kind.items]:
            return Results()
        return Results(run_of(kind.verb)(self, kind.read(given)))

    def translate(
        self,
        texts: Sequence[str],
        beam: int | None = None,
        length_penalty: float | None = None,
        n_best: int | None = None,
        *,
        sample: Mapping[str, Any] | None = None,
        search: Mapping[str, Any] | None = None,
        mbr: str | None = None,
        samples: int | None = None,
        before: Sequence[str] | None = None,
        constraints: "Constraints | None" = None,
        replace_unknown: bool = False,
        dictionary: Mapping[str, str] | None = None,
        fuse: Loaded | None = None,
        fuse_weight: float | None = None,
        channel: Loaded | None = None,
        channel_weight: float | None = None,
        prior: Loaded | None = None,
        prior_weight: float | None = None,
        split_sentences: bool = False,
        too_long: "LongTexts" = "refuse",
        engine: "Choice" = "torch",
    ) -> "list[Translated]":
        """Translate each text; what is not given is as the model's recipe says.

        With `sample`, options of sampling such as {"temperature": 0.7, "seed": 3}, outputs are drawn at random, as many
        as `n_best`; by `mbr`, a metric, the best of so many `samples` is chosen. `search` has any other option of the
        search, such as {"unrepeated": 3}. The output of a single text can continue the tokens `before`, by name. With
        `replace_unknown` a model of words gives no unknown words, but those of the text that it looked at, or what the
        `dictionary` has for them. A language model of the same tokens to `fuse` with has its say at each step, as much
        as `fuse_weight` says. A `channel`, which translates in the other direction, and with it a language model
        `prior` rank what the beam has found. With `split_sentences` each sentence is translated by itself, and texts
        that are `too_long` can be split or truncated. Another `engine` than torch needs an export in the model's
        folder. Under `watching` one more pass over the best outputs shows every attention, rows = texts.
        """
        needs(self.recipe, "translate", METHOD)
        request = TranslateRequest.unchecked(
            text=_texts("translate", texts),
            beam=beam,
            length_penalty=length_penalty,
            n_best=n_best,
            sample=sample,
            replace_unknown=replace_unknown,
            dictionary=dictionary,
            **({} if constraints is None else constraints.fields()),
            **helpers_of(fuse, fuse_weight, channel, channel_weight, prior, prior_weight),
        )
        further = {"search": search and dict(search), "mbr": mbr, "samples": samples, "before": before}
        way = {"split_sentences": split_sentences, "too_long": too_long, "engine": engine}
        return Results(run_of("translate")(self, request.with_checked(**further, **way)))

    def answer(
        self,
        inputs: Sequence[Any],
        *,
        beam: int | None = None,
        raw: bool = False,
        tagger: "Model | Sequence[Model] | None" = None,
        as_is: bool = False,
    ) -> list[Answer | Tags]:
        """Answer each input, as people have it: the number of a node, the file of a picture, a sentence.

        Of models that give a tag to each word, those that know the tag before can be searched with a `beam`; sentences
        are parted at spaces, or given as lists of words, or `raw`. A `tagger` finds what such a model reads beside each
        word, as parts of speech; where it reads several columns, give a tagger for each. Pictures of another size are
        made like those that it learnt from, and with `as_is` refused.
        """
        given = [] if tagger is None else [tagger] if isinstance(tagger, Model) else tagger
        taggers = [Held(each) for each in given or (self.own_taggers if raw else [])]
        items = _listed("answer", "input", inputs)
        return self.ask(AnswerRequest, inputs=items, beam=beam, raw=raw, tagger=taggers or None, as_is=as_is)

    @cached_property
    def own_taggers(self) -> list[Loaded]:
        """Taggers in its folder that find what it reads beside words: `taggers/pos` for the column pos."""
        from regard.verbs.answer.tagging import own_taggers

        return own_taggers(self)

    def transcribe(
        self,
        sounds: Sequence[str | Path | bytes],
        *,
        beam: int | None = None,
        fuse: "Model | None" = None,
        fuse_weight: float | None = None,
    ) -> list[Transcript]:
        """Write down what each sound, a file or its content, says: by the best path, or by a `beam` of prefixes.

        A language model of the same symbols to `fuse` with has its say in the search, as much as `fuse_weight` says.
        """
        fused = None if fuse is None else Held(fuse)
        items = _listed("transcribe", "sound", sounds)
        return self.ask(TranscribeRequest, sounds=items, beam=beam, fuse=fused, fuse_weight=fuse_weight)

    def caption(
        self,
        pictures: Sequence[Any],
        *,
        beam: int | None = None,
        length_penalty: float | None = None,
        sample: Mapping[str, Any] | None = None,
        attention: bool = True,
    ) -> list[Caption]:
        """Say what each picture shows: its file, that file's content, or features of it as an array or a .npy file.

        What is not given of the search is as the recipe says. With `sample`, options of sampling such as
        {"temperature": 0.7, "seed": 3}, captions are drawn at random. Without `attention` they do not say where each
        word looked, which saves a pass over each caption.
        """
        search = {"beam": beam, "length_penalty": length_penalty, "sample": None if sample is None else dict(sample)}
        return self.ask(CaptionRequest, pictures=_listed("caption", "picture", pictures), attention=attention, **search)

    def embed(self, texts: Sequence[str], layer: int | None = None) -> list[TextVectors]:
        """The vectors of each text and of its tokens, in all layers or in one; layer 0 is the plain embedding."""
        return self.ask(EmbedRequest, text=_texts("embed", texts), layer=layer)

    def speak(
        self, texts: Sequence[str], speaker: str | None = None, *, seconds: float | None = None, rounds: int = ROUNDS
    ) -> list[Spoken]:
        """A sound in which `speaker` says each text, or the first that it knows; a notebook plays it.

        One that has not ended after so many seconds is cut; `rounds` are Griffin and Lim's, for the phases.
        """
        text = _texts("speak", texts)
        return self.ask(SpeakRequest, text=text, speaker=speaker, seconds=seconds, rounds=rounds)

    def draw(
        self,
        count: int = 1,
        seed: int = 1,
        prompt: str | None = None,
        temperature: float | None = None,
        *,
        complete: Strokes | None = None,
        between: tuple[Strokes, Strokes] | None = None,
        reconstruct: Strokes | None = None,
    ) -> list[Drawn]:
        """Drawings of its own, or of what a prompt asks for, the same for the same seed; a notebook shows them.

        One that draws strokes also goes on with a drawing to `complete`, a list of strokes of points (x, y); as an
        autoencoder it can `reconstruct` one, or draw what lies `between` two.
        """
        strokes = {"complete": complete, "reconstruct": reconstruct, "between": between and list(between)}
        return self.ask(DrawRequest, count=count, seed=seed, prompt=prompt, temperature=temperature, **strokes)

    @naming_arguments
    def look(
        self,
        text: str,
        target: str | None = None,
        *,
        side: str | None = None,
        layer: int | None = None,
        head: int | None = None,
        heads: "Joining | None" = None,
        rings: int | None = None,
        sheet: bool = False,
        lines: bool = False,
        tokens: bool = False,
        speaker: str | None = None,
        as_is: bool = False,
    ) -> "View":
        """Look at what the model attends to while it reads `text`, as `regard look` draws it.

        A translator writes `target`, or what it finds best, and has several sides: cross, encoder, decoder; a model of
        classes may have pooling and encoder. The first there is is shown unless `side` names another. One `layer` and
        `head` is shown first, or all heads joined by their mean or max; the other options are those of the command.
        Of a language model without attention it is what may follow the text. A model that speaks does so as `speaker`,
        or as the first that it knows. A picture of another size is made to fit, or with `as_is` refused.
        """
        from regard.verbs.look.run import look
        from regard.verbs.pictures import mark_as_is
        from regard.viewing.view import DrawingRequest

        wanted = DrawingRequest(layer, head, heads, rings, sheet, lines, tokens)
        given = mark_as_is(self.task, [text])[0] if as_is else text
        return look(self, given, target, side, wanted, speaker)

    @naming_arguments
    def look_next(
        self,
        text: str,
        prefix: str | None = None,
        at: int | None = None,
        *,
        sample: Mapping[str, float] | None = None,
        bars: int = 12,
    ) -> "View":
        """The distribution of the next token, as `regard look --next` draws it.

        Of a language model it follows `text`. Of a translator that reads `text` it follows a `prefix` of the output, or
        as many tokens of the best output as `at` says. `sample` has steps of sampling, such as {"top_p": 0.9}, whose
        effect is drawn too; `bars` is how many tokens are shown.
        """
        from regard.verbs.look.run import look_next

        return look_next(self, text, prefix, at, dict(sample or {}), bars)

    def look_beam(self, text: str, width: int | None = None, length_penalty: float | None = None) -> "View":
        """The beam of a translator as a tree, as `regard look --beam` draws it."""
        from regard.verbs.look.run import look_beam

        return look_beam(self, text, width, length_penalty)

    def look_contexts(self, word: str, texts: Sequence[str]) -> "View":
        """Where the vectors of one word lie that stands in several texts, as `regard look --contexts` draws it."""
        needs(self.recipe, "embed", METHOD)
        from regard.verbs.look.run import look_contexts

        return look_contexts(self, word, _texts("look_contexts", texts))

    def generate(
        self,
        prompts: Sequence[str] = ("",),
        tokens: int | None = None,
        samples: int | None = None,
        *,
        sample: Mapping[str, Any] | None = None,
        beam: int | None = None,
        length_penalty: float | None = None,
        n_best: int | None = None,
        search: Mapping[str, Any] | None = None,
        past_end: bool = False,
        when_full: "WhenFull | None" = None,
    ) -> "list[list[Generated]]":
        """Go on with each prompt, if it is a language model."""
        needs(self.recipe, "generate", METHOD)
        raise TypeError(f"{type(self).__name__} says that it goes on with prompts, and has no way to")

    def neighbours(
        self, words: Sequence[str], count: int = 10, side: "VectorSide" = "centres"
    ) -> "list[NeighboursOfWord]":
        """The words nearest to each word, if it has word vectors."""
        return Results(self.lexicon(side).neighbours(words, count))

    def analogy(self, a: str, b: str, c: str, count: int = 10, side: "VectorSide" = "centres") -> "SolvedAnalogy":
        """Find the word that is to c as b is to a, if the model has word vectors."""
        return self.lexicon(side).analogy((a, b, c), count)

    @naming_arguments
    def map(
        self,
        words: Sequence[str] = (),
        count: int | None = None,
        *,
        around: int | None = None,
        method: Literal["pca", "t-sne"] = "pca",
        side: "VectorSide" = "centres",
    ) -> "WordMap":
        """Words in the plane, if it has word vectors: some with those `around` them, or the `count` most frequent.

        What it gives can be written as a picture, a page or numbers, by its `save`.
        """
        from regard.verbs.words.maps import map_words
        from regard.verbs.words.request import map_request

        return map_words(self.lexicon(side), map_request(_texts("map", words), count, around, method))

    def lexicon(self, side: "VectorSide" = "centres") -> "Lexicon":
        """Its words to ask about, by the vectors of one side, or by the mean of both."""
        needs(self.recipe, "neighbours", METHOD)
        if side not in self._lexicons:
            from regard.verbs.words.opening import lexicon_of

            self._lexicons[side] = lexicon_of(self.task, side)
        return self._lexicons[side]


def load(folder: str | Path, device: str = "auto", precision: str = "float32") -> Model:
    """Load a model folder, checking every file in it against its manifest.

    With `precision` "bf16" a GPU translates about twice as fast, and a close choice may fall otherwise.
    """
    return load_as(make_model, folder, device, precision)


def make_model(task: Any, recipe: Recipe) -> Model:
    """The model of a task, of the class that its kind asks for."""
    return model_class(recipe.task)(task, recipe)


@cache
def model_class(task: str) -> type[Model]:
    """The class of the models of a kind of task: with all verbs, and with what more there is to ask of it."""
    more = class_for(task)
    return Model if more is Loaded else type(more.__name__, (more, Model), {"__doc__": more.__doc__})


def _texts(verb: str, texts: Sequence[str]) -> list[str]:
    if isinstance(texts, str):
        raise TypeError(f"{verb} takes a list of texts; write {verb}([text])")
    return list(texts)


def _listed(verb: str, noun: str, given: Sequence[Any]) -> list[Held]:
    if isinstance(given, str | Path | bytes):
        raise TypeError(f"{verb} takes a list of {noun}s; write {verb}([{noun}])")
    return [Held(each) for each in given]

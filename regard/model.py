"""A loaded model: what `regard.load` returns and the commands use."""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from regard.base.arguments import held_items, listed_texts, naming_arguments
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
from regard.verbs.translate.request import LongTexts, TranslateRequest, helpers_of

Strokes = list[list[list[float]]]  # strokes of a drawing, each of points (x, y)

if TYPE_CHECKING:
    from regard.base.edits import Edit, Edits
    from regard.engines.fast import Choice, TextChoice
    from regard.engines.translated import Translated
    from regard.verbs.generate.generated import Generated
    from regard.verbs.generate.request import WhenFull
    from regard.verbs.translate.search import Constraints
    from regard.verbs.words.lexicon import Lexicon, NeighboursOfWord, SolvedAnalogy
    from regard.verbs.words.request import VectorSide
    from regard.viewing.seen import Joining
    from regard.viewing.view import View
    from regard.viewing.word_map import WordMap


class Model(Loaded):
    """A model with its task and its recipe.

    Its `verbs` are what it can do; the methods of other verbs raise a `Fault` that says what it can do.
    """

    def __init__(self, task: Any, recipe: Recipe) -> None:
        super().__init__(task, recipe)
        self._lexicons: dict[VectorSide, Lexicon] = {}

    def ask(self, kind: type[VerbRequest], **fields: Any) -> list[Any]:
        """Answer a request for a verb; fields that are None are omitted."""
        needs(self.recipe, kind.verb, METHOD)
        values = {name: value for name, value in fields.items() if value is not None}
        if kind.items and not values[kind.items]:
            return Results()
        return Results(run_of(kind.verb)(self, kind.read(values)))

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
        draft: "Loaded | str | Path | None" = None,
        split_sentences: bool = False,
        too_long: "LongTexts" = "refuse",
        engine: "Choice" = "torch",
    ) -> "list[Translated]":
        """Translate each text; defaults come from the model's recipe.

        With `sample`, a table of sampling options such as {"temperature": 0.7, "seed": 3}, `n_best` outputs are
        sampled; with `mbr`, a metric, the best of `samples` outputs is chosen. `search` holds other search options. The
        output of a single text can continue the tokens `before`, given by name. With `replace_unknown`, a model of
        words replaces unknown words by the most attended source words, or by their translations in the `dictionary`.
        `fuse` is a language model with the same vocabulary for each step, weighed by `fuse_weight`. A reverse `channel`
        model, optionally with a language model as `prior`, reranks the beam. A `draft` ("lookup", "source" or a smaller
        model) speeds up greedy search. `split_sentences` translates sentences one by one; texts that are `too_long` can
        be split or truncated. An `engine` other than torch needs an export in the model's folder. Under `watching`, one
        more pass over the best outputs shows all attention.
        """
        needs(self.recipe, "translate", METHOD)
        request = TranslateRequest.unchecked(
            text=listed_texts("translate", texts),
            beam=beam,
            length_penalty=length_penalty,
            n_best=n_best,
            sample=sample,
            replace_unknown=replace_unknown,
            dictionary=dictionary,
            **({} if constraints is None else constraints.fields()),
            **helpers_of(fuse, fuse_weight, channel, channel_weight, prior, prior_weight, draft),
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
        engine: "TextChoice" = "torch",
        as_is: bool = False,
    ) -> list[Answer | Tags]:
        """Answer each input, such as a node number, a picture file or a sentence.

        Taggers split sentences at spaces; sentences can also be lists of words, or `raw` text. Taggers that choose each
        tag knowing the one before can be searched with a `beam`. A `tagger` finds another column that a model reads;
        give one for each. The `engine` onnx needs an export. Pictures are scaled, or with `as_is` refused.
        """
        chosen = [] if tagger is None else [tagger] if isinstance(tagger, Model) else tagger
        taggers = [Held(model) for model in chosen or (self.own_taggers if raw else [])]
        fields = {"beam": beam, "raw": raw, "tagger": taggers or None, "engine": engine, "as_is": as_is}
        return self.ask(AnswerRequest, inputs=held_items("answer", "input", inputs), **fields)

    @cached_property
    def own_taggers(self) -> list[Loaded]:
        """Taggers in its folder for the other columns it reads: `taggers/pos` for the column pos."""
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
        """Transcribe each sound, a file or its content, by the best path or with a `beam` of prefixes.

        `fuse` is a language model with the same symbols that takes part in the search with `fuse_weight`.
        """
        fields = {"beam": beam, "fuse": None if fuse is None else Held(fuse), "fuse_weight": fuse_weight}
        return self.ask(TranscribeRequest, sounds=held_items("transcribe", "sound", sounds), **fields)

    def caption(
        self,
        pictures: Sequence[Any],
        *,
        beam: int | None = None,
        length_penalty: float | None = None,
        sample: Mapping[str, Any] | None = None,
        attention: bool = True,
    ) -> list[Caption]:
        """Caption each picture: a file, its content, or features as an array or a .npy file.

        Defaults of the search come from the recipe. With `sample`, a table of sampling options such as
        {"temperature": 0.7, "seed": 3}, captions are sampled. Without `attention`, captions have no attention weights,
        which saves a pass over each.
        """
        search = {"beam": beam, "length_penalty": length_penalty, "sample": None if sample is None else dict(sample)}
        items = held_items("caption", "picture", pictures)
        return self.ask(CaptionRequest, pictures=items, attention=attention, **search)

    def embed(self, texts: Sequence[str], layer: int | None = None) -> list[TextVectors]:
        """Return the vectors of each text and its tokens, in all layers or in one; layer 0 is the plain embedding."""
        return self.ask(EmbedRequest, text=listed_texts("embed", texts), layer=layer)

    def speak(
        self, texts: Sequence[str], speaker: str | None = None, *, seconds: float | None = None, rounds: int = ROUNDS
    ) -> list[Spoken]:
        """Speak each text with the voice of `speaker`, by default the first it knows; a notebook plays the sound.

        A sound that has not ended after `seconds` is cut; `rounds` are those of Griffin-Lim, for the phases.
        """
        way = {"speaker": speaker, "seconds": seconds, "rounds": rounds}
        return self.ask(SpeakRequest, text=listed_texts("speak", texts), **way)

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
        """Generate drawings, at random or for a prompt; the same seed gives the same drawings. A notebook shows them.

        A model that draws strokes can also `complete` a drawing, a list of strokes of points (x, y); an autoencoder can
        `reconstruct` one, or interpolate `between` two.
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
        edits: "Edit | Sequence[Edit] | Edits | None" = None,
    ) -> "View":
        """Return a view of the model's attention while it reads `text`, as `regard look` draws it.

        A translator writes `target`, or its best output, and has several sides: cross, encoder, decoder; a classifier
        may have pooling and encoder. The first is shown unless `side` names another. `layer` and `head` choose what is
        shown first, or all heads are joined by their mean or max; the other options are those of the command. A
        language model without attention shows what may follow the text. A model that speaks uses the voice of
        `speaker`, or the first it knows. A picture of the wrong size is scaled, or refused with `as_is`. Under `edits`
        the model writes again, the view shows the edited attention, and its heading both outputs.
        """
        from regard.base.edits import as_edits
        from regard.verbs.look.run import look
        from regard.verbs.pictures import mark_as_is
        from regard.viewing.view import DrawingRequest

        drawing = DrawingRequest(layer, head, heads, rings, sheet, lines, tokens)
        item = mark_as_is(self.task, [text])[0] if as_is else text
        return look(self, item, target, side, drawing, speaker, None if edits is None else as_edits(edits))

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
        """Return a view of the distribution of the next token, as `regard look --next` draws it.

        For a language model, the token follows `text`. For a translator that reads `text`, it follows a `prefix` of the
        output, or the first `at` tokens of the best output. `sample` has sampling steps, such as {"top_p": 0.9}, whose
        effect is drawn too; `bars` is the number of tokens shown.
        """
        from regard.verbs.look.run import look_next

        return look_next(self, text, prefix, at, dict(sample or {}), bars)

    def look_beam(self, text: str, width: int | None = None, length_penalty: float | None = None) -> "View":
        """Return a view of a translator's beam as a tree, as `regard look --beam` draws it."""
        from regard.verbs.look.run import look_beam

        return look_beam(self, text, width, length_penalty)

    @naming_arguments
    def why(
        self,
        item: Any,
        method: str = "integrated-gradients",
        *,
        output: str | None = None,
        place: int | None = None,
        word: str | None = None,
        layer: int | None = None,
        head: int | None = None,
        tokens: bool = False,
        other: str | None = None,
        trust: bool = False,
    ) -> "View":
        """Return a view of the parts of an input that made the model write or answer this, as `regard look --why` does.

        `output` is the output or class to explain, by default the model's own. Among its tokens `place`, counted from
        0, or `word` chooses one, by default the last. The method "all" compares all that have a meaning for the model,
        and "lens" reads what it would write after each block; "patching" puts states of an `other` input into this one,
        "heads" and "units" switch off each of them. `layer` and `head` choose an attention. The scores are in
        `numbers()["maps"]`. With `trust` each map also has its figures compared with chance and with the truth.
        """
        from regard.seeing.why.views import WhyRequest, view_why

        return view_why(self, item, WhyRequest(method, output, place, word, layer, head, tokens, other, trust))

    def look_contexts(self, word: str, texts: Sequence[str]) -> "View":
        """Return a view of the vectors of one word in several texts, as `regard look --contexts` draws it."""
        needs(self.recipe, "embed", METHOD)
        from regard.verbs.look.run import look_contexts

        return look_contexts(self, word, listed_texts("look_contexts", texts))

    @naming_arguments
    def look_examples(
        self,
        text: str,
        count: int = 5,
        *,
        states: Literal["encoder", "decoder"] | None = None,
        target: str | None = None,
        at: int | None = None,
        by: Literal["cosine", "l2"] = "cosine",
        from_lines: int = 5000,
    ) -> "View":
        """Return a view of the training examples whose states are nearest, as `regard look --examples` lists them."""
        needs(self.recipe, "embed", METHOD)
        from regard.verbs.look.run import look_examples

        return look_examples(self, text, count, states, target, at, by, from_lines)

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
        draft: "Loaded | str | Path | None" = None,
        engine: "TextChoice" = "torch",
    ) -> "list[list[Generated]]":
        """Continue each prompt, if it is a language model."""
        needs(self.recipe, "generate", METHOD)
        raise TypeError(f"{type(self).__name__} claims to continue prompts, but cannot")

    def neighbours(
        self, words: Sequence[str], count: int = 10, side: "VectorSide" = "centres"
    ) -> "list[NeighboursOfWord]":
        """Return the words nearest to each word, if the model has word vectors."""
        return Results(self.lexicon(side).neighbours(listed_texts("neighbours", words, "word"), count))

    def analogy(self, a: str, b: str, c: str, count: int = 10, side: "VectorSide" = "centres") -> "SolvedAnalogy":
        """Return the words that are to c as b is to a, if the model has word vectors."""
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
        """Place words on a plane, if the model has word vectors: some with those `around` them, or the most frequent.

        The `save` method of the result writes it as a picture, a page or numbers.
        """
        from regard.verbs.words.maps import map_words
        from regard.verbs.words.request import map_request

        return map_words(self.lexicon(side), map_request(listed_texts("map", words), count, around, method))

    def lexicon(self, side: "VectorSide" = "centres") -> "Lexicon":
        """Return its words for look-up, with the vectors of one side or the mean of both."""
        needs(self.recipe, "neighbours", METHOD)
        if side not in self._lexicons:
            from regard.verbs.words.opening import lexicon_of

            self._lexicons[side] = lexicon_of(self.task, side)
        return self._lexicons[side]


def load(folder: str | Path, device: str = "auto", precision: str = "float32") -> Model:
    """Load a model folder, checking every file in it against its manifest.

    With `precision` "bf16", a GPU translates about twice as fast, and may decide close calls differently.
    """
    return load_as(make_model, folder, device, precision)


def make_model(task: Any, recipe: Recipe) -> Model:
    """Return the model of a task, with the class for its kind."""
    return model_class(recipe.task)(task, recipe)


@cache
def model_class(task: str) -> type[Model]:
    """Return the class for models of a kind of task: `Model`, with the further methods of that kind."""
    more = class_for(task)
    return Model if more is Loaded else type(more.__name__, (more, Model), {"__doc__": more.__doc__})

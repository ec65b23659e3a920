"""A trained model in the hand: what `regard.load` gives, and what the commands use."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor, nn

from regard.base.arguments import naming_arguments
from regard.base.faults import Fault
from regard.base.files import refuse_oversized
from regard.base.notebook import Results, table
from regard.base.places import find_place
from regard.base.recipe import Recipe, faults_of
from regard.families import check_recipe, task_class
from regard.hardware.devices import pick_device
from regard.models.shapes import ShapesOnly, Unfilled, refuse_too_large
from regard.protocols import Answer, Caption, Describes, Drawn, OwnWeights, Spoken, Tags, TextVectors, Transcript
from regard.runs import checkpoint
from regard.tasks import TASKS
from regard.tasks.speaking.options import ROUNDS
from regard.tasks.tagging.task import Tagging
from regard.training.snapshot import check_weights, load_weights, named_weights
from regard.verbs.answer import answer_each
from regard.verbs.caption.captioning import caption_each
from regard.verbs.draw import draw_each
from regard.verbs.embed.embedding import embed_each
from regard.verbs.pictures import mark_as_is
from regard.verbs.purposes import METHOD
from regard.verbs.requests.draw import DrawRequest
from regard.verbs.requests.speak import SpeakRequest
from regard.verbs.speak import speak_each
from regard.verbs.table import has, needs, verbs_of
from regard.verbs.tagging import TAGGERS, TagSearch, check_taggers
from regard.verbs.transcribe import LabelSearch, language_search, transcribe_each

Strokes = list[list[list[float]]]  # of a drawing, each of points (x, y)

if TYPE_CHECKING:
    from regard.verbs.generate.continuing import Generated
    from regard.verbs.requests.words import VectorSide
    from regard.verbs.translate.outputs import Translated
    from regard.verbs.translate.search import Constraints
    from regard.verbs.words.lexicon import Lexicon, NeighboursOfWord, SolvedAnalogy
    from regard.viewing.seen import Joining
    from regard.viewing.view import View


class Model:
    """A model with its task and its recipe.

    What it can be asked for are its `verbs`; the methods of other verbs refuse, in a sentence that says what it can.
    """

    folder: Path | None = None  # where it was loaded from, if it was

    def __init__(self, task: Any, recipe: Recipe) -> None:
        self.task, self.recipe = task, recipe
        self._lexicons: dict[VectorSide, Lexicon] = {}
        if isinstance(task, nn.Module):
            task.eval()

    def take_files(self, files: Mapping[str, bytes], folder: Path) -> None:
        """Take what else the folder of a trained model says of it."""

    @property
    def verbs(self) -> list[str]:
        """What it can be asked for."""
        return verbs_of(self.recipe.family, self.recipe.task)

    @property
    def parameters(self) -> int:
        """How many numbers it has learnt: its weights, or the probabilities and back-off weights of n-grams."""
        if isinstance(self.task, nn.Module):
            return sum(parameter.numel() for parameter in self.task.parameters())
        return sum(tensor.numel() for tensor in self.task.weights().values() if tensor.is_floating_point())

    def facts(self) -> dict[str, Any]:
        """What it is, by name: its family and task, its languages, how large it is, and what its task knows of it."""
        data = self.recipe.data
        known: dict[str, Any] = {"family": self.recipe.family, "task": self.recipe.task}
        if hasattr(data, "source_language"):
            known["languages"] = f"{data.source_language}-{data.target_language}"
        own = self.task.facts() if isinstance(self.task, Describes) else {}
        return {**known, "parameters": self.parameters, **own}

    def __repr__(self) -> str:
        facts = self.facts()
        task = " ".join(facts[name] for name in ("task", "languages") if name in facts)
        return f"<Model: {facts['family']}, {task}, {facts['parameters']:,} parameters; can {', '.join(self.verbs)}>"

    def _repr_html_(self) -> str:
        facts = self.facts() | {"can": ", ".join(self.verbs)}
        shown = {name: f"{value:,}" if isinstance(value, int) else str(value) for name, value in facts.items()}
        return table([escape(name), escape(value)] for name, value in shown.items())

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]:
        """The parts of the network by name, so that `regard.watching(model)` can say who looks.

        A model that counts has none.
        """
        if not isinstance(self.task, nn.Module):
            return iter(())
        return self.task.get_submodule("model").named_modules()

    def translate(
        self,
        texts: Sequence[str],
        beam: int | None = None,
        length_penalty: float | None = None,
        n_best: int | None = None,
        *,
        sample: Mapping[str, Any] | None = None,
        constraints: "Constraints | None" = None,
    ) -> "list[Translated]":
        """Translate each text, if it is a translator."""
        needs(self.recipe, "translate", METHOD)
        raise TypeError(f"{type(self).__name__} says that it translates, and has no way to")

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
        needs(self.recipe, "answer", METHOD)
        if isinstance(inputs, str):
            raise TypeError("answer takes a list of inputs; write answer([input])")
        read = mark_as_is(self.task, inputs) if as_is else inputs
        return Results(answer_each(self.task, read, self.tag_search(beam, raw, tagger)))

    def tag_search(
        self, beam: int | None = None, raw: bool = False, tagger: "Model | Sequence[Model] | None" = None
    ) -> TagSearch:
        """Return how sentences are read and tagged, with the taggers given or, for raw text, those in its folder."""
        given = [] if tagger is None else [tagger] if isinstance(tagger, Model) else list(tagger)
        tasks = [each.task for each in given or (self.own_taggers if raw else [])]
        return TagSearch(beam, raw, check_taggers(self.task, tasks) if tasks else ())

    @cached_property
    def own_taggers(self) -> "list[Model]":
        """Taggers in its folder that find what it reads beside words: `taggers/pos` for the column pos."""
        beside = self.task.data.read_beside if isinstance(self.task, Tagging) else []
        folders = [self.folder / TAGGERS / column for column in beside] if self.folder else []
        return [load(folder) for folder in folders] if all(folder.is_dir() for folder in folders) else []

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
        needs(self.recipe, "transcribe", METHOD)
        if isinstance(sounds, str | Path | bytes):
            raise TypeError("transcribe takes a list of sounds; write transcribe([sound])")
        if fuse is None and fuse_weight is not None:
            raise Fault("fuse_weight would do nothing without fuse.")
        own = LabelSearch(beam)
        search = own if fuse is None else language_search(self, fuse, fuse_weight, beam, "the model to fuse with")
        return Results(transcribe_each(self.task, sounds, search))

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
        needs(self.recipe, "caption", METHOD)
        if isinstance(pictures, str | Path | bytes):
            raise TypeError("caption takes a list of pictures; write caption([picture])")
        return Results(caption_each(self.task, pictures, beam, length_penalty, sample=sample, attention=attention))

    def embed(self, texts: Sequence[str], layer: int | None = None) -> list[TextVectors]:
        """The vectors of each text and of its tokens, in all layers or in one; layer 0 is the plain embedding."""
        needs(self.recipe, "embed", METHOD)
        if isinstance(texts, str):
            raise TypeError("embed takes a list of texts; write embed([text])")
        return Results(embed_each(self.task, texts, layer))

    def speak(
        self, texts: Sequence[str], speaker: str | None = None, *, seconds: float | None = None, rounds: int = ROUNDS
    ) -> list[Spoken]:
        """A sound in which `speaker` says each text, or the first that it knows; a notebook plays it.

        One that has not ended after so many seconds is cut; `rounds` are Griffin and Lim's, for the phases.
        """
        needs(self.recipe, "speak", METHOD)
        if isinstance(texts, str):
            raise TypeError("speak takes a list of texts; write speak([text])")
        given = {"text": list(texts), "speaker": speaker, "seconds": seconds, "rounds": rounds}
        return Results(speak_each(self.task, SpeakRequest.read(given)))

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
        needs(self.recipe, "draw", METHOD)
        asked: dict[str, Any] = {"count": count, "seed": seed, "prompt": prompt, "temperature": temperature}
        asked |= {"complete": complete, "reconstruct": reconstruct, "between": between and list(between)}
        given = {name: value for name, value in asked.items() if value is not None}
        return Results(draw_each(self.task, DrawRequest.read(given)))

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
        """What it looks at while it reads `text`, as `regard look` draws it: a picture, a page, numbers.

        A translator writes `target`, or what it finds best, and has several sides: cross, encoder, decoder; a model of
        classes may have pooling and encoder. The first there is is shown unless `side` names another. One `layer` and
        `head` is shown first, or all heads joined by their mean or max; the other options are those of the command.
        Of a language model without attention it is what may follow the text. A model that speaks does so as `speaker`,
        or as the first that it knows. A picture of another size is made to fit, or with `as_is` refused.
        """
        from regard.seeing.looking import look
        from regard.viewing.drawers import DrawingRequest

        wanted = DrawingRequest(layer, head, heads, rings, sheet, lines, tokens)
        given = mark_as_is(self.task, [text])[0] if as_is else text
        return look(self, given, target, side, wanted, speaker)

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
        """What is to c as b is to a, if it has word vectors."""
        return self.lexicon(side).analogy((a, b, c), count)

    def lexicon(self, side: "VectorSide" = "centres") -> "Lexicon":
        """Its words to ask about, by the vectors of one side, or by the mean of both."""
        needs(self.recipe, "neighbours", METHOD)
        if side not in self._lexicons:
            from regard.verbs.words.lexicon import Lexicon

            vectors = self.task.word_vectors(side)

            def compose(word: str) -> Any:
                return None if word in vectors else self.task.vector_of(word, side)

            self._lexicons[side] = Lexicon("the model", vectors, compose)
        return self._lexicons[side]


def build_task(recipe: Recipe, files: Mapping[str, bytes]) -> Any:
    """A new task as the recipe says, from what travels in a model folder; its weights are drawn from the seed."""
    torch.manual_seed(recipe.seed)
    return task_class(recipe).build(recipe, files)


def check_room(recipe: Recipe, files: Mapping[str, bytes]) -> None:
    """Refuse a model of which the weights alone would fill the memory of this machine, before any of it is made."""
    with ShapesOnly():
        task = task_class(recipe).build(recipe, files)
    if isinstance(task, nn.Module):
        refuse_too_large(task)


PRECISIONS = {"float32": torch.float32, "bf16": torch.bfloat16}


def load(folder: str | Path, device: str = "auto", precision: str = "float32") -> Model:
    """Load a model folder, checking every file in it against its manifest.

    With `precision` "bf16" a GPU translates about twice as fast, and a close choice may fall otherwise.
    """
    if precision not in PRECISIONS:
        raise Fault(f"There is no precision '{precision}'; give {' or '.join(PRECISIONS)}.")
    folder = Path(folder)
    table = checkpoint.read_recipe(folder)
    with faults_of(folder / checkpoint.RECIPE):
        recipe = check_recipe(table)
    listed = checkpoint.read_manifest(folder)
    if checkpoint.WEIGHTS not in listed:
        raise Fault(f"{folder} has no {checkpoint.WEIGHTS} yet: its training has not reached its first validation.")
    unlisted = [file for name in ("tokeniser", "source", "target") for file in (f"{name}.model", f"{name}.json")
                if (folder / file).exists() and file not in listed]  # fmt: skip
    if unlisted:
        raise Fault(f"{folder / unlisted[0]} is not in the manifest, so nothing vouches for it.")
    own = checkpoint.read_folder(folder, [name for name in listed if name != checkpoint.WEIGHTS])
    shapes = _shapes_of(recipe, own, folder)
    with checkpoint.checked_meanwhile(folder, [checkpoint.WEIGHTS]) as files:
        weights = checkpoint.bytes_to_weights(files[checkpoint.WEIGHTS], str(folder / checkpoint.WEIGHTS))
        task = _load_task(recipe, own, weights, shapes, folder)
    if isinstance(task, nn.Module):
        task = task.to(pick_device(device), PRECISIONS[precision])
    model = make_model(task, recipe)
    model.take_files(own, folder)
    model.folder = folder
    return model


def make_model(task: Any, recipe: Recipe) -> Model:
    """The model of a task: of the class that its kind asks for."""
    return find_place(TASKS[recipe.task].model)(task, recipe)


def _shapes_of(recipe: Recipe, files: Mapping[str, bytes], folder: Path) -> nn.Module | None:
    """Build the task of a recipe without its numbers; a file of weights that is far too large for it is refused.

    A task that keeps weights of its own kind has no shapes to know beforehand.
    """
    kind = task_class(recipe)
    if has(kind, OwnWeights):
        return None
    try:
        with ShapesOnly():  # a recipe may ask for more memory than there is: look before making room for it
            unbuilt = kind.build(recipe, files)
    except RuntimeError as error:
        raise Fault(f"The model that {folder / checkpoint.RECIPE} asks for cannot be built: {error}.") from None
    needed = sum(tensor.numel() * tensor.itemsize for tensor in named_weights(unbuilt).values())
    refuse_oversized(folder / checkpoint.WEIGHTS, needed)
    return cast(nn.Module, unbuilt)


def _load_task(
    recipe: Recipe, files: Mapping[str, bytes], weights: dict[str, Tensor], unbuilt: nn.Module | None, folder: Path
) -> Any:
    """Build the task of a recipe with these weights, refused if they are not those that it asks for."""
    if unbuilt is None:
        task = task_class(recipe).build(recipe, files)
        task.load_weights(weights)
        return task
    check_weights(unbuilt, weights, folder / checkpoint.WEIGHTS)
    with Unfilled():
        task = build_task(recipe, files)
    load_weights(task, weights)
    return task

"""A trained model in the hand: what `regard.load` gives, and what the commands use."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from regard.attention.alignments import links
from regard.attention.watch import unwatched, watched, watching
from regard.base.faults import Fault
from regard.base.recipe import faults_of
from regard.data.tokenisers.tokeniser import Tokeniser, load_tokenisers
from regard.decoding.options import changed
from regard.decoding.output import Hypothesis
from regard.families import FAMILIES, Recipe, check_recipe
from regard.hardware.threads import suit_threads
from regard.models.shapes import ShapesOnly, Unfilled
from regard.runs import checkpoint
from regard.tasks.translation.covering import crossing
from regard.tasks.translation.objectives import objective_for
from regard.tasks.translation.task import Translation
from regard.training.snapshot import load_weights, named_weights
from regard.verbs.translate.outputs import Alignment, Translated
from regard.verbs.translate.search import SEARCH_TOKENS, Constraints, Search, batches_of, find

ALIGNED_TOKENS = 2048  # tokens x rows in one batch whose attention is kept

Rank = Callable[[str, list[Hypothesis]], list[Hypothesis]]


class Model:
    """A model with its tokenisers and its recipe."""

    def __init__(self, task: Translation, recipe: Recipe, others: Sequence[Translation] = ()) -> None:
        self.task, self.recipe, self.others = task.eval(), recipe, [other.eval() for other in others]

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]:
        """The parts of the network by name, so that `regard.watching(model)` can say who looks."""
        return self.task.model.named_modules()

    def has_tokens_of(self, other: "Model") -> bool:
        """Whether both cut text into the same tokens."""
        return [other.task.source.files("source"), other.task.target.files("target")] == [
            self.task.source.files("source"),
            self.task.target.files("target"),
        ]

    def together(self, others: Sequence["Model"]) -> "Model":
        """This model as one with others of the same tokens: they write by the mean of their probabilities.

        What is looked at and forced is still this one.
        """
        for number, other in enumerate(others, start=1):
            if not self.has_tokens_of(other):
                raise Fault(
                    f"Model {number} beside the first cuts text into other tokens; combine models of one corpus."
                )
        return Model(self.task, self.recipe, [*self.others, *(other.task for other in others)])

    def translate(
        self,
        texts: Sequence[str],
        beam: int | None = None,
        length_penalty: float | None = None,
        n_best: int | None = None,
        *,
        sample: Mapping[str, Any] | None = None,
        constraints: Constraints | None = None,
    ) -> list[Translated]:
        """Translate each text; what is not given is as the model's recipe says.

        With `sample`, options of sampling such as {"temperature": 0.7, "seed": 3}, outputs are drawn at random, as many
        as `n_best`. Under `watching` one more pass over the best outputs shows every attention, rows = texts.
        """
        return self.translate_by(
            texts, self.search(beam, length_penalty, n_best, sample=sample, constraints=constraints)
        )

    def translate_by(
        self, texts: Sequence[str], search: Search, lines: Sequence[int] | None = None, rank: Rank | None = None
    ) -> list[Translated]:
        """Translate each text by a search of any kind; `lines` number the texts for sampling, and `rank` reorders."""
        if isinstance(texts, str):
            raise TypeError("translate takes a list of texts; write translate([text])")
        with unwatched():
            found = find([self.task, *self.others], texts, search, lines)
            if rank is not None:
                found = [rank(text, hypotheses) for text, hypotheses in zip(texts, found, strict=True)]
        if watched() and texts:
            self.force(texts, [hypotheses[0].tokens for hypotheses in found])
        return self._translated(texts, found)

    def search(
        self,
        beam: int | None = None,
        length_penalty: float | None = None,
        n_best: int | None = None,
        *,
        sample: Mapping[str, Any] | None = None,
        given: Mapping[str, Any] | None = None,
        constraints: Constraints | None = None,
    ) -> Search:
        """The search of the model's recipe with what is given changed in it; `given` takes any option by its name."""
        named = {"beam": beam, "length_penalty": length_penalty, "n_best": n_best}
        every = {**(given or {}), **{name: value for name, value in named.items() if value is not None}}
        return Search(changed(self.recipe.decoding, every, sample), sample is not None, constraints or Constraints())

    def _translated(self, texts: Sequence[str], found: Sequence[list[Hypothesis]]) -> list[Translated]:
        # All at once, when the first is asked for.
        aligned = cache(lambda: self.align(texts, [hypotheses[0].tokens for hypotheses in found]))

        def alignment(number: int) -> Alignment:
            return aligned()[number]

        def told(number: int, hypotheses: list[Hypothesis]) -> Translated:
            best, written = hypotheses[0], [(self.task.write(each.tokens), each.score) for each in hypotheses]
            pieces = self.task.target.pieces(best.tokens)
            return Translated(written[0][0], best.score, pieces, best.token_scores, written, partial(alignment, number))

        return [told(number, hypotheses) for number, hypotheses in enumerate(found)]

    @torch.no_grad()
    def force(self, texts: Sequence[str], outputs: Sequence[Sequence[int]]) -> Tensor:
        """Let the model read these texts and write just these tokens; the log-probability of each output."""
        return self.task.forced_scores(self.task.force_batch(texts, outputs))

    @torch.no_grad()
    def translate_as(self, texts: Sequence[str], outputs: Sequence[str]) -> list[Translated]:
        """The given outputs as if the model had written them, each scored by its log-probability."""
        if len(texts) != len(outputs):
            raise Fault(f"There are {len(texts)} texts but {len(outputs)} outputs for them.")
        found: list[list[Hypothesis]] = [[] for _ in texts]
        tokens = [self.task.target.encode(output) for output in outputs]
        lengths = {
            number: max(self.task.check_length(text, number), self.task.check_target(outputs[number], number))
            for number, text in enumerate(texts)
        }
        for numbers in batches_of(lengths, SEARCH_TOKENS):
            batch = self.task.force_batch([texts[n] for n in numbers], [tokens[n] for n in numbers])
            for number, own in zip(numbers, self.task.forced_token_scores(batch), strict=True):
                found[number] = [Hypothesis(tokens[number], own.tolist(), float(own.sum()))]
        return self._translated(texts, found)

    def search_tokens(self, text: str) -> list[int]:
        """The tokens of the best output for one text."""
        with unwatched():
            return find([self.task], [text], Search(self.recipe.decoding))[0][0].tokens

    def align(self, texts: Sequence[str], outputs: Sequence[Sequence[int]]) -> list[Alignment]:
        """For each word of an output the word of its text that its attention, summed over its tokens, prefers.

        The attention is the mean over the heads of the block that aligns best; a model without any aligns nothing.
        """
        found: list[Alignment] = [[] for _ in texts]
        where = crossing(self.task.model)
        sources = [self.task.source.encode(text.strip()) for text in texts]
        lengths = {n: max(len(sources[n]), len(outputs[n])) + 1 for n in range(len(texts)) if sources[n] and outputs[n]}
        for numbers in batches_of(lengths, ALIGNED_TOKENS) if where else ():
            with watching(self, where=where) as gazes:
                self.force([texts[number] for number in numbers], [outputs[number] for number in numbers])
            for number, weights in zip(numbers, gazes[0].weights.mean(dim=1), strict=True):
                written, read = self.task.target.words(outputs[number]), self.task.source.words(sources[number])
                found[number] = sorted(links(weights, written, read), key=lambda link: link[1])
        return found


def build_task(recipe: Recipe, source: Tokeniser, target: Tokeniser) -> Translation:
    """A new task as the recipe says, its weights drawn from the recipe's seed."""
    network, _ = FAMILIES[recipe.family].load()
    torch.manual_seed(recipe.seed)
    shared = recipe.data.tokeniser.shared
    model = network(recipe.model, source.size, target.size, shared, target.pad)
    training = recipe.training
    objective = objective_for(recipe.model, training.label_smoothing, training.consistency)
    return Translation(model, source, target, objective)


def check_room(recipe: Recipe, source_size: int, target_size: int) -> None:
    """Refuse a model of which the weights alone would fill the memory of this machine, before any of it is made."""
    network, _ = FAMILIES[recipe.family].load()
    with ShapesOnly():
        model = network(recipe.model, source_size, target_size, recipe.data.tokeniser.shared, 0)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if parameters * torch.float32.itemsize > memory:
        raise Fault(
            f"The model would have {parameters:,} parameters, which take {parameters * 4 / 2**30:,.0f} GiB, and this "
            f"machine has {memory / 2**30:,.0f} GiB of memory; make model.width or the number of layers smaller."
        )


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
        raise Fault(f"{folder} has no {checkpoint.WEIGHTS} yet: its training has not come to a first validation.")
    unlisted = [file for name in ("tokeniser", "source", "target") for file in (f"{name}.model", f"{name}.json")
                if (folder / file).exists() and file not in listed]  # fmt: skip
    if unlisted:
        raise Fault(f"{folder / unlisted[0]} is not in the manifest, so nothing vouches for it.")
    checkpoint.read_folder(folder, [name for name in listed if name != checkpoint.WEIGHTS])
    tokenisers = load_tokenisers(folder, recipe.data.tokeniser)
    with checkpoint.checked_meanwhile(folder, [checkpoint.WEIGHTS]) as files:
        weights = checkpoint.bytes_to_weights(files[checkpoint.WEIGHTS], str(folder / checkpoint.WEIGHTS))
        task = _built(recipe, tokenisers, weights, folder)
    return Model(task.to(pick_device(device), PRECISIONS[precision]), recipe)


def _built(
    recipe: Recipe, tokenisers: tuple[Tokeniser, Tokeniser], weights: dict[str, Tensor], folder: Path
) -> Translation:
    """The task of a recipe with these weights, refused if they are not those that it asks for."""
    try:
        with ShapesOnly():  # a recipe may ask for more memory than there is: look before making room for it
            unbuilt = build_task(recipe, *tokenisers)
    except RuntimeError as error:
        raise Fault(f"The model that {folder / checkpoint.RECIPE} asks for cannot be built: {error}.") from None
    check_weights(unbuilt, weights, folder)
    with Unfilled():
        task = build_task(recipe, *tokenisers)
    load_weights(task, weights)
    return task


def check_weights(task: nn.Module, weights: dict[str, Tensor], folder: Path) -> None:
    """Refuse weights of a folder that are missing, of another shape, or no numbers."""
    for name, own in named_weights(task).items():
        if name not in weights:
            raise Fault(f"{folder / checkpoint.WEIGHTS} has no '{name}', which its recipe asks for.")
        if weights[name].shape != own.shape:
            given, asked = tuple(weights[name].shape), tuple(own.shape)
            raise Fault(f"'{name}' in {folder / checkpoint.WEIGHTS} is of shape {given}, but its recipe says {asked}.")
        if not weights[name].is_floating_point() or not weights[name].isfinite().all():
            raise Fault(f"'{name}' in {folder / checkpoint.WEIGHTS} holds what is not a finite number.")


def pick_device(name: str) -> torch.device:
    """The device of that name; `auto` is the GPU where there is one."""
    if name == "auto":
        return _made_ready(torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    try:
        device = torch.device(name)
    except RuntimeError:
        raise Fault(f"There is no device '{name}'; give auto, cpu, cuda or cuda:1.") from None
    if device.type not in ("cpu", "cuda"):
        raise Fault(f"There is no device '{name}'; give auto, cpu, cuda or cuda:1.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise Fault(f"There is no device '{name}': torch finds {torch.cuda.device_count()} GPUs; give cpu or auto.")
    return _made_ready(device)


def _made_ready(device: torch.device) -> torch.device:
    """Settings of torch that suit the device, and text, whose batches have ever new shapes."""
    suit_threads(device)
    if device.type == "cuda":
        torch.backends.cuda.enable_cudnn_sdp(False)  # it makes a new plan for every new shape, which costs seconds
    return device

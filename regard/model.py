"""A trained model in the hand: what `regard.load` gives, and what the commands use."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor, nn

from regard import checkpoint
from regard.attention.alignments import links
from regard.attention.watch import unwatched, watched, watching
from regard.data.prepared import load_tokenisers
from regard.data.tokenisers import Tokeniser
from regard.decoding.beam import Hypothesis, beam_search
from regard.decoding.options import DecodingOptions
from regard.families import FAMILIES, Recipe, check_recipe
from regard.faults import Fault
from regard.recipe import check
from regard.tasks.objectives import objective_for
from regard.tasks.translation import Translation
from regard.training.snapshot import load_weights, named_weights

SEARCH_TOKENS = 8192  # source tokens x beam in one batch of a search


@dataclass(frozen=True)
class Translated:
    """One translation: the best text and its score, its tokens, and the other candidates."""

    text: str
    score: float
    tokens: list[str]
    token_scores: list[float]
    n_best: list[tuple[str, float]]
    _align: Callable[[], list[tuple[int, int]]] = field(repr=False, compare=False)

    @cached_property
    def alignment(self) -> list[tuple[int, int]]:
        """For each word of the output the word of the input it looked at most: (source word, target word)."""
        return self._align()


class Model:
    """A model with its tokenisers and its recipe."""

    def __init__(self, task: Translation, recipe: Recipe) -> None:
        self.task, self.recipe = task.eval(), recipe

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]:
        """The parts of the network by name, so that `regard.watching(model)` can say who looks."""
        return self.task.model.named_modules()

    def translate(
        self,
        texts: Sequence[str],
        beam: int | None = None,
        length_penalty: float | None = None,
        n_best: int | None = None,
    ) -> list[Translated]:
        """Translate each text; what is not given is as the model's recipe says.

        Under `watching` one more pass over the best outputs shows every attention, rows = texts.
        """
        if isinstance(texts, str):
            raise TypeError("translate takes a list of texts; write translate([text])")
        options = self.search_options(beam, length_penalty, n_best)
        with unwatched():
            found = self._search(texts, options)
        if watched() and texts:
            self.force(texts, [hypotheses[0].tokens for hypotheses in found])
        return [self._translated(text, hypotheses) for text, hypotheses in zip(texts, found, strict=True)]

    def search_options(self, beam: int | None, penalty: float | None, n_best: int | None) -> DecodingOptions:
        given = {"beam": beam, "length_penalty": penalty, "n_best": n_best}
        table = self.recipe.decoding.model_dump() | {name: v for name, v in given.items() if v is not None}
        return check(DecodingOptions, table, "the search")

    @torch.no_grad()
    def _search(self, texts: Sequence[str], options: DecodingOptions) -> list[list[Hypothesis]]:
        """The hypotheses for each text; texts of like length are searched together, and the order is kept."""
        found: list[list[Hypothesis]] = [[Hypothesis([], [0.0], 0.0)] for _ in texts]
        lengths = {n: self.task.check_length(text, n) for n, text in enumerate(texts) if text.strip()}
        for numbers in _batches(lengths, SEARCH_TOKENS // options.beam):
            batch = self.task.read([texts[number] for number in numbers])
            limits = (batch.source_lengths * options.longest_ratio).long() + options.longest_extra
            limits = limits.clamp(max=self.task.model.options.longest).to(self.task.device)
            for number, hypotheses in zip(numbers, beam_search(self.task, batch, limits, options), strict=True):
                found[number] = hypotheses
        return found

    def _translated(self, text: str, hypotheses: list[Hypothesis]) -> Translated:
        best = hypotheses[0]
        return Translated(
            self.task.write(best.tokens),
            best.score,
            self.task.target.pieces(best.tokens),
            best.token_scores,
            [(self.task.write(each.tokens), each.score) for each in hypotheses],
            lambda: self.align(text, best.tokens),
        )

    @torch.no_grad()
    def force(self, texts: Sequence[str], outputs: Sequence[Sequence[int]]) -> Tensor:
        """Let the model read these texts and write just these tokens; the log-probability of each output."""
        return self.task.forced_scores(self.task.force_batch(texts, outputs))

    def search_tokens(self, text: str) -> list[int]:
        """The tokens of the best output for one text."""
        with unwatched():
            return self._search([text], self.recipe.decoding)[0][0].tokens

    def align(self, text: str, tokens: Sequence[int]) -> list[tuple[int, int]]:
        """For each word of the output the word of the input that its attention, summed over its tokens, prefers.

        The attention is the mean over the heads of the last block but one, which aligns best in translation models of
        several sizes (Garg et al. 2019, section 4.1). A model without attention aligns nothing.
        """
        if not tokens or not text.strip():
            return []
        with watching(self) as gazes:
            self.force([text], [tokens])
        crossing = [gaze.weights for gaze in gazes if (gaze.looks_from, gaze.looks_at) == ("target", "source")]
        if not crossing:
            return []
        weights = crossing[max(0, len(crossing) - 2)][0, :, :-1].mean(dim=0)  # the end token aligns with nothing
        source_words = self.task.source.words(self.task.source.encode(text))
        return sorted(links(weights, self.task.target.words(tokens), source_words), key=lambda link: link[1])


def _batches(lengths: dict[int, int], budget: int) -> Iterator[list[int]]:
    """Numbers of texts in groups of like length; rows x longest stays within the budget."""
    group: list[int] = []
    for number in sorted(lengths, key=lambda number: (-lengths[number], number)):
        if group and (len(group) + 1) * lengths[group[0]] > budget:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def build_task(recipe: Recipe, source: Tokeniser, target: Tokeniser) -> Translation:
    """A new task as the recipe says, its weights drawn from the recipe's seed."""
    network, _ = FAMILIES[recipe.family].load()
    torch.manual_seed(recipe.seed)
    shared = recipe.data.tokeniser.shared
    model = network(recipe.model, source.size, target.size, shared, target.pad)
    training = recipe.training
    objective = objective_for(recipe.model, training.label_smoothing, training.consistency)
    return Translation(model, source, target, objective)


def load(folder: str | Path, device: str = "auto") -> Model:
    """Load a model folder, checking every file in it against its manifest."""
    folder = Path(folder)
    recipe = check_recipe(checkpoint.read_recipe(folder))
    files = checkpoint.read_folder(folder)
    if checkpoint.WEIGHTS not in files:
        raise Fault(f"{folder} has no {checkpoint.WEIGHTS} yet: its training has not come to a first validation.")
    weights = checkpoint.bytes_to_weights(files[checkpoint.WEIGHTS], str(folder / checkpoint.WEIGHTS))
    tokenisers = load_tokenisers(folder, recipe.data.tokeniser)
    unlisted = [file for name in ("tokeniser", "source", "target") for file in (f"{name}.model", f"{name}.json")
                if (folder / file).exists() and file not in files]  # fmt: skip
    if unlisted:
        raise Fault(f"{folder / unlisted[0]} is not in the manifest, so nothing vouches for it.")
    try:
        with torch.device("meta"):  # a recipe may ask for more memory than there is: look before making room for it
            unbuilt = build_task(recipe, *tokenisers)
    except RuntimeError as error:
        raise Fault(f"The model that {folder / checkpoint.RECIPE} asks for cannot be built: {error}.") from None
    _check_weights(unbuilt, weights, folder)
    task = build_task(recipe, *tokenisers)
    load_weights(task, weights)
    return Model(task.to(pick_device(device)), recipe)


def _check_weights(task: nn.Module, weights: dict[str, Tensor], folder: Path) -> None:
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
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise Fault(f"There is no device '{name}'; give auto, cpu, cuda or cuda:1.") from None
    if device.type not in ("cpu", "cuda"):
        raise Fault(f"There is no device '{name}'; give auto, cpu, cuda or cuda:1.")
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise Fault(f"There is no device '{name}': torch finds {torch.cuda.device_count()} GPUs; give cpu or auto.")
    return device

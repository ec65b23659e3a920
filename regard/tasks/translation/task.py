"""The task of translation: batches of sentence pairs, cross-entropy, text in and text out."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from regard.base.faults import Fault, TooLong
from regard.base.figures import shorten
from regard.base.progress import Progress, Remark
from regard.data.corpora.turns import DASH
from regard.data.tokenisers.tokeniser import Tokeniser, tokenisers_in
from regard.decoding.options import DecodingOptions
from regard.hardware.precision import check_cell
from regard.models.freezing import check_parts, freeze
from regard.models.shapes import ShapesOnly
from regard.models.transformer.packing import obstacle, serves
from regard.protocols import Followed, Loss, Measure, State, StepCost, Tally, TextVectors, mean, perplexity
from regard.tasks.base import Files, NetworkTask, build_network, check_size, network_class
from regard.tasks.text import words_of
from regard.tasks.translation.batches import KnownTokens, PairBatch, TranslationNetwork
from regard.tasks.translation.objectives import CrossEntropy, Objective, Taught, forced, objective_for, taught
from regard.tasks.translation.options import TranslationRecipe
from regard.tasks.translation.packs import PackedBatch
from regard.tasks.translation.translator_description import token_facts
from regard.tasks.translation.vectors import follow_source, source_vectors, take_vectors
from regard.viewing.sides import Side, Words

if TYPE_CHECKING:  # training data, which a loaded translator does without
    from regard.data.corpora.prepared import PreparedPairs
    from regard.tasks.translation.training_pairs import TrainingPairs


def mark_turns(network: TranslationNetwork, tokeniser: Tokeniser) -> None:
    """Give a network that reads turns the tokens that each turn begins with."""
    if network.reads_turns:
        network.marks = turn_marks(tokeniser)


def turn_marks(tokeniser: Tokeniser) -> tuple[int, ...]:
    """Return the tokens of the dash that each turn begins with."""
    marks = tuple(tokeniser.encode(DASH))
    if not marks or tokeniser.unknown in marks:
        raise Fault(f"The tokeniser has no token for '{DASH}', which begins every turn of a dialogue.")
    return marks


def turn_sides(network: TranslationNetwork, tokeniser: Tokeniser, batch: PairBatch) -> dict[str, Side]:
    """Return the turns of the one dialogue of a batch, each as one word, if the network reads turns."""
    tokens, sides = batch.source[0].tolist(), dict[str, Side]()
    for name, turns in network.turns_of(batch.source, batch.source_lengths).items():
        rows = zip(turns.words.tolist(), turns.lengths.tolist(), strict=True)
        texts = [tokeniser.decode([tokens[place] for place in places[:length]]) for places, length in rows]
        sides[name] = Words(texts, texts, range(len(texts)))
    return sides


def turn_extents(network: TranslationNetwork, batch: PairBatch) -> dict[str, Tensor]:
    """Return how many turns each dialogue of a batch has, if the network reads turns."""
    return {name: turns.counts for name, turns in network.turns_of(batch.source, batch.source_lengths).items()}


def refuse_turns(network: TranslationNetwork) -> None:
    """Refuse to follow a single line of words through a network that reads turns."""
    if network.reads_turns:
        raise Fault("This model reads the turns of a dialogue one by one, so there is no single line to follow.")


FEWEST_TOKENS = 16  # of a vocabulary whose size is not known yet
_USUAL_LENGTH = 30  # tokens of a typical sentence, for the cost per token
VALIDATION_ROWS = 64  # of a batch for measuring only
IMPOSSIBLE = 1e4  # nats of a token that the model cannot write; finite, so that two losses can be compared
FILLED = 0.93  # share of a batch's room assumed to hold target tokens; the rest is padding and longer sources


class Translation(NetworkTask["TrainingPairs"]):
    """A translator: the network and the two tokenisers."""

    unit = "tokens"  # the unit of batches
    known: KnownTokens | None = None  # the vocabulary, if tokens beyond it can be copied from a source
    MEASURES: ClassVar[tuple[str, ...]] = ("loss", "perplexity", "accuracy")

    def __init__(
        self, model: TranslationNetwork, source: Tokeniser, target: Tokeniser, objective: Objective | None = None
    ) -> None:
        super().__init__(model)
        self.source, self.target = source, target
        self.objective = objective or CrossEntropy()
        self.begin, self.end = target.begin, target.end
        self._begun: list[str] = []  # a line on its initial vectors

    # Construction

    @classmethod
    def check(cls, recipe: TranslationRecipe, device: torch.device, folder: Path | None) -> None:
        if recipe.training.log_attention and getattr(recipe.model, "decoder", None) == "bottleneck":
            raise Fault("training.log_attention is true, but a bottleneck has no attention to log.")
        cell = None if "cell" in recipe.model.idle else getattr(recipe.model, "cell", None)
        check_cell(cell, recipe.training.precision, device)
        check_parts(recipe.family, network_class(recipe), recipe.training.freeze)
        check_size(recipe, FEWEST_TOKENS, FEWEST_TOKENS, recipe.data.tokeniser.shared, 0)
        tagged = [*(corpus.tagged for corpus in recipe.data.train), *(text.is_tagged for text in recipe.data.mono)]
        if any(tagged) and network_class(recipe).reads_turns:
            raise Fault(f"A {recipe.family} reads the turns of a dialogue, which cannot be tagged; set tag to false.")
        from regard.tasks.translation.training_pairs import check_files

        check_files(recipe, folder)

    @classmethod
    def step_cost(cls, recipe: TranslationRecipe) -> StepCost:
        training, tokens = recipe.training, recipe.data.tokeniser.most_tokens
        with ShapesOnly():
            network = build_network(recipe, tokens, tokens, recipe.data.tokeniser.shared, 0)
        passes = 2 if training.consistency else 1
        multiplications = passes * network.cost(_USUAL_LENGTH)["multiplications"] / _USUAL_LENGTH
        room = training.accumulate * (training.batch_tokens or recipe.model.ample_tokens)
        return StepCost(room, multiplications, FILLED)

    @classmethod
    def prepare(
        cls, recipe: TranslationRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> "PreparedPairs":
        from regard.tasks.translation.training_pairs import prepare_pairs

        return prepare_pairs(recipe, folder, progress, remark, start)

    @classmethod
    def sample(cls, recipe: TranslationRecipe, folder: Path, remark: Remark) -> TranslationRecipe:
        from regard.data.corpora.sample import first_pairs

        first = first_pairs(recipe.data, folder, remark)
        return recipe if first is recipe.data else recipe.model_copy(update={"data": first})

    @classmethod
    def build(cls, recipe: TranslationRecipe, files: Files) -> "Translation":
        return cls.of_recipe(recipe, *tokenisers_in(files, recipe.data.tokeniser))

    @classmethod
    def of_recipe(cls, recipe: TranslationRecipe, source: Tokeniser, target: Tokeniser) -> "Translation":
        """Return the translator of a recipe with these tokenisers, its weights initialised from the recipe's seed."""
        network, training = cls.network_of(recipe, source, target), recipe.training
        mark_turns(network, source)
        return cls(network, source, target, objective_for(recipe.model, training.label_smoothing, training.consistency))

    @staticmethod
    def network_of(recipe: TranslationRecipe, source: Tokeniser, target: Tokeniser) -> Any:
        """Return the network of a recipe for these tokens."""
        torch.manual_seed(recipe.seed)
        return build_network(recipe, source.size, target.size, recipe.data.tokeniser.shared, target.pad)

    def begin_with(self, prepared: "PreparedPairs", recipe: TranslationRecipe) -> None:
        """Initialise the embeddings from ready vectors."""
        if recipe.data.vectors is not None:
            check = type(recipe).check_other
            self._begun = [take_vectors(self.model, self.source, self.target, recipe.data.vectors, check)]

    def settle(self, recipe: TranslationRecipe, prepared: "PreparedPairs", remark: Remark) -> TranslationRecipe:
        """Return the recipe with its batch size, chosen here if it is open."""
        if recipe.training.batch_tokens is not None:
            return recipe
        from regard.tasks.translation.budget import find_batch_tokens

        batch_tokens = find_batch_tokens(self, recipe, prepared, remark)
        return recipe.model_copy(update={"training": recipe.training.model_copy(update={"batch_tokens": batch_tokens})})

    # Training and evaluation

    def learn_from(self, prepared: "PreparedPairs", recipe: TranslationRecipe) -> None:
        from regard.data.corpora.resampling import PairCutter
        from regard.tasks.translation.training_pairs import TrainingPairs

        training = recipe.training
        if training.batch_tokens is None:
            raise RuntimeError("the batch size must be set before a translator learns")
        freeze(self.model, training.freeze)
        if training.quantise != "none":
            self.model.round_as(training.quantise)
        fast = training.fast and training.precision != "float32"  # in float32 the kernels are too large for many GPUs
        cutter = PairCutter(prepared.train, self.source, self.target, self.model.options.longest - 1)
        sampling = recipe.data.tokeniser.sampling > 0
        self._material = TrainingPairs(
            prepared,
            training.batch_tokens,
            self.device,
            cutter=cutter if sampling else None,
            capacity=training.batch_tokens if fast else 0,
        )

    def learn_from_teachers(self, teachers: "Sequence[Translation]", weight: float, temperature: float) -> None:
        """Learn also from what these translators, with the same tokens, would write at each place."""
        if any(type(teacher) is not Translation for teacher in teachers):
            raise Fault("A translator of training.teachers must write token after token, without copying words.")
        networks = [teacher.eval().requires_grad_(False).model for teacher in teachers]
        self.objective = taught(self.objective, networks, weight, temperature)

    def _can_pack(self, longest: int) -> bool:
        """Return True if the network, and its teachers if it has any, can read packed sentences of this length."""
        teachers = self.objective.teachers if isinstance(self.objective, Taught) else ()
        return all(serves(network, longest) for network in (self.model, *teachers))

    @property
    def pairs(self) -> "TrainingPairs":
        """The pairs to learn from."""
        return self.material

    def outline(self, recipe: TranslationRecipe) -> list[str]:
        split = "" if self.source is self.target else f" of the source, {self.target.size:,} of the target"
        workers = self.pairs.workers
        return [
            f"{self.source.size:,} tokens in the vocabulary{split}",
            str(self.pairs.plan.size(recipe.seed, 0)),
            *self._begun,
            *self._mixture(recipe),
            *([self._path] if self._path else []),
            *([f"{workers} worker processes tokenise the text again in every epoch"] if workers else []),
        ]

    def _mixture(self, recipe: TranslationRecipe) -> list[str]:
        """Return the share of the pairs from each corpus, if there are several."""
        names = [*(corpus.names[0] for corpus in recipe.data.train), *(text.file for text in recipe.data.mono)]
        if len(names) == 1:
            return []
        weights = [weight if count else 0.0 for _, count, weight in self.pairs.corpus.train.corpora]
        named = zip(weights, names, strict=False)  # a dry run has none of the texts of one language, which are last
        shares = [f"{weight / sum(weights):.1%} from {name}" for weight, name in named]
        return [f"of the pairs of an epoch {', '.join(shares)}"]

    @property
    def _path(self) -> str:
        """Describe the training path on a GPU and, if it is the slower one, why; empty if there is no choice."""
        if self.device.type != "cuda" or not self.model.has_packed_pass:
            return ""
        if not self.pairs.capacity:
            return "on the plain path, as set by training.fast or training.precision"
        if self.known is not None:
            return "on the plain path, because no kernel can copy"
        if getattr(self.model, "rounding", None) is not None:
            return "on the plain path, because no kernel can round"
        if self._can_pack(longest=1):
            return "on packed sentences, with fused kernels and captured passes"
        return f"on the plain path: {obstacle() or 'the kernels do not support these blocks, positions or activations'}"

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[Any]:
        if split == "train":
            for sources, targets in self.pairs.rows(seed, epoch, start):
                yield self.pairs.placed(self._host_batch(sources, targets), self._can_pack)
        else:
            pairs = {"valid": self.pairs.corpus.valid, "test": self.pairs.corpus.test}[split]
            for first in range(start * VALIDATION_ROWS, len(pairs), VALIDATION_ROWS):
                yield self.pair_up(pairs[first : first + VALIDATION_ROWS])

    def pair_up(self, pairs: Sequence[tuple[str, str]]) -> PairBatch:
        """Return a batch of these sentences and their translations, stripped as in training."""
        sources = self.encode_sources([source for source, _ in pairs])
        targets = self.encode_targets([source for source, _ in pairs], [target.strip() for _, target in pairs])
        return self.token_batch([np.array(s) for s in sources], [np.array(t) for t in targets])

    def target_for(self, text: str) -> Tokeniser:
        """Return the tokeniser for outputs of a text; if words are copied, its unknown words are tokens too."""
        return self.target

    def source_for(self, text: str) -> Tokeniser:
        """Return the tokeniser for reading a text."""
        return self.source

    def encode_sources(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts to read, stripped."""
        return self.source.encode_all([text.strip() for text in texts])

    def source_tokens(self, texts: Mapping[int, str]) -> dict[int, list[int]]:
        """Return the tokens of texts by number; a text that is too long for the model is refused by its number."""
        tokens = dict(zip(texts, self.encode_sources(list(texts.values())), strict=True))
        longest = self.model.options.longest
        for number, row in tokens.items():
            if len(row) + 1 > longest:
                about = f"{texts[number][:40]!r}… has {len(row) + 1} tokens"
                raise TooLong(number, f"{about}, but the model takes {longest} at most; split it.")
        return tokens

    def encode_targets(self, texts: Sequence[str], outputs: Sequence[str]) -> list[list[int]]:
        """Return the tokens of outputs as written for these texts."""
        return self.target.encode_all(list(outputs))

    def token_batch(self, sources: list[np.ndarray], targets: list[np.ndarray]) -> PairBatch:
        """Return a batch of these token rows, on the device of the model."""
        return self._host_batch(sources, targets).to(self.device)

    def _host_batch(self, sources: list[np.ndarray], targets: list[np.ndarray]) -> PairBatch:
        source, source_lengths = _pad(sources, self.source.pad, last=self.source.end)
        target, target_lengths = _pad(targets, self.target.pad, last=self.end)
        return PairBatch.of(source, source_lengths, target, target_lengths, self.begin, self.known)

    def loss(self, batch: PairBatch | PackedBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        return self.objective(self.model, batch, carry)

    @torch.no_grad()
    def measure(self, batch: PairBatch) -> dict[str, Measure]:
        log_probabilities, targets = self.forced_log_probabilities(batch)
        of_targets = log_probabilities.gather(1, targets[:, None])
        nats = -float(of_targets.masked_fill(of_targets == -math.inf, -IMPOSSIBLE).sum())
        right, count = float((log_probabilities.argmax(-1) == targets).sum()), float(batch.tokens)
        return {
            "loss": Measure(Tally((nats, count), mean), "lower"),
            "perplexity": Measure(Tally((nats, count), perplexity), "lower", "per token, end counted"),
            "accuracy": Measure(Tally((right, count), mean), "higher"),
        }

    def forced_log_probabilities(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """Return the log-probabilities (place, token) at the real targets, each given the true ones before, and the
        targets.
        """
        written = forced(self.model, batch)
        return self.model.logits(written.states).log_softmax(-1), written.wanted

    # Search

    def start(self, batch: PairBatch) -> State:
        memory = self.model.read(batch.source, batch.source_lengths)
        return State(sentence=memory, row=self.model.begin(memory))

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Tensor, State]:
        states, past = self.model.write(tokens[:, None], state.sentence, state.row)
        return self.model.logits(states[:, 0]).float().log_softmax(-1), State(state.sentence, past)

    def limits(self, batch: PairBatch, options: DecodingOptions) -> Tensor:
        longest = self.model.options.longest
        limits = [options.limit(length, longest) for length in batch.source_lengths.tolist()]
        return torch.tensor(limits).to(self.device)

    # For people

    def read(self, inputs: Sequence[str]) -> PairBatch:
        """Return the sentences as a batch with empty targets."""
        return self.read_tokens(self.encode_sources(inputs))

    def read_tokens(self, rows: Sequence[Sequence[int]]) -> PairBatch:
        """Return a batch of sentences given as tokens."""
        return self.token_batch([np.array(row) for row in rows], [np.array([])] * len(rows))

    def write(self, tokens: Sequence[int]) -> str:
        return self.target.decode(tokens)

    def embed(self, batch: PairBatch) -> list[TextVectors]:
        return source_vectors(self.model, self.source, batch)

    def follow(self, text: str) -> Followed:
        refuse_turns(self.model)
        return follow_source(self.model, self.source, self.read([text]))

    def quote(self, batch: PairBatch | PackedBatch) -> str:
        pairs = batch.pairs if isinstance(batch, PackedBatch) else batch
        source = self.source.decode(pairs.source[0, : int(pairs.source_lengths[0]) - 1].tolist())
        target = self.write(pairs.target[0, : int(pairs.target_lengths[0]) - 1].tolist())
        return f"'{shorten(source)}' | '{shorten(target)}'"

    def sides(self, batch: PairBatch, outputs: Sequence[Sequence[int]], text: str = "") -> dict[str, Side]:
        """Return the sides of one pair; `text` is the source, whose words may have been copied."""
        (written,) = outputs
        target, read = self.target_for(text), batch.source if self.known is None else batch.copies
        source = read[0, : int(batch.source_lengths[0])].tolist()
        # Within the target a place is named by the token it reads, not by the one it writes.
        as_read = words_of(target, [self.begin, *written])
        return turn_sides(self.model, self.source, batch) | {
            "source": words_of(self.source_for(text), source),
            "target": replace(words_of(target, [*written, self.end]), as_read=as_read),
        }

    def extents(self, batch: PairBatch) -> dict[str, Tensor]:
        target = (batch.places // batch.target.shape[1]).bincount(minlength=batch.rows)
        return {"source": batch.source_lengths, "target": target} | turn_extents(self.model, batch)

    def facts(self) -> dict[str, Any]:
        return token_facts(self.source, self.target)

    def cost(self, size: int) -> dict[str, int | float]:
        return self.model.cost(size)


def _pad(rows: list[np.ndarray], pad: int, last: int) -> tuple[Tensor, Tensor]:
    """Return rows of different lengths as one tensor, each closed by `last` and padded with `pad`."""
    lengths = torch.tensor([len(row) + 1 for row in rows])
    table = np.full((len(rows), int(lengths.max())), pad, dtype=np.int64)
    for line, row in zip(table, rows, strict=True):
        line[: len(row)] = row
        line[len(row)] = last
    return torch.from_numpy(table), lengths

"""The task of tagging: batches of sentences, a tag per word as the answer, and attention between words."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark
from regard.data.tagging.files import TaggedSentence, read_input
from regard.data.tagging.lengths import refuse_longer
from regard.data.tagging.lexicon import LEXICON_FILE, PAD, SHAPES, UNKNOWN, FormTable, Lexicon, open_lexicon
from regard.data.tagging.options import TaggingData
from regard.data.tagging.prepare import PreparedTags, check_files_there, prepare_tags
from regard.data.tagging.spans import find_spans
from regard.data.tokenisers.tokeniser import Tokeniser, tokenisers_in
from regard.models.tagging.tagger import Sizes, Tagger
from regard.protocols import Followed, Loss, Measure, State, Tags
from regard.tasks.base import Files, NetworkTask, network_class
from regard.tasks.tagging.batches import MEASURED_WORDS, TagBatch, TagSource, batch_of_inputs
from regard.tasks.tagging.measures import MEASURES, SpanCounts, measure_spans, measures_of, word_sums
from regard.tasks.tagging.objectives import choose_tags, probabilities_of, surprise
from regard.tasks.tagging.options import TaggingRecipe, TaggingTraining
from regard.tasks.text import inputs_of, with_marks
from regard.viewing.sides import Side, Words


class Tagging(NetworkTask[dict[str, TagSource]]):
    """A tagger, its lexicon of words and tags, and how it learns.

    If a tag depends on the previous one, the task is stepwise and a step is a word; `begin` and `end` stand before the
    first tag and after the last.
    """

    MEASURES: ClassVar[tuple[str, ...]] = MEASURES
    unit = "words"

    def __init__(
        self,
        model: Tagger,
        lexicon: Lexicon,
        data: TaggingData,
        training: TaggingTraining,
        tokeniser: Tokeniser | None = None,
    ) -> None:
        super().__init__(model)
        self.lexicon, self.data, self.training_options = lexicon, data, training
        self.tokeniser = tokeniser  # if words are read in pieces
        self.begin, self.end = model.begin, model.begin + 1

    @property
    def has_spans(self) -> bool:
        """True if its tags spell spans."""
        return self.data.scheme != "tags"

    @property
    def knows_label_before(self) -> bool:
        """True if a tag depends on the previous one, so that a search makes sense."""
        return self.model.after_label is not None

    # Construction

    @classmethod
    def check(cls, recipe: TaggingRecipe, device: torch.device, folder: Path | None) -> None:
        check_files_there(recipe.data, folder)

    @classmethod
    def prepare(
        cls, recipe: TaggingRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedTags:
        lexicon = open_lexicon(start, len(recipe.data.read_beside)) if start and LEXICON_FILE in start else None
        return prepare_tags(recipe.data, folder, progress, lexicon, _tokeniser_in(start, recipe) if start else None)

    @classmethod
    def build(cls, recipe: TaggingRecipe, files: Files) -> "Tagging":
        lexicon = open_lexicon(files, len(recipe.data.read_beside))
        tokeniser = _tokeniser_in(files, recipe)
        sizes = Sizes(
            words=lexicon.word_count,
            letters=lexicon.letter_count,
            shapes=len(SHAPES),
            columns=tuple(lexicon.column_counts),
            tags=len(lexicon.tags),
            pad=PAD,
            unknown=UNKNOWN,
            pieces=None if tokeniser is None else inputs_of(tokeniser),
        )
        network = Tagger(network_class(recipe), recipe.model, sizes)
        return cls(network, lexicon, recipe.data, recipe.training, tokeniser)

    # Training and evaluation

    def learn_from(self, prepared: PreparedTags, recipe: TaggingRecipe) -> None:
        table = FormTable(prepared.forms, prepared.lexicon, self.tokeniser)
        self._material = {split: TagSource(prepared, split, table) for split in prepared.splits}
        for split, source in self._material.items():
            self._check_length(source.longest, source.most_pieces, f"data.{split} has a sentence")

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[TagBatch]:
        source = self.material[split]
        if split == "train":
            batches_of_split = source.batches(self.training_options.batch_tokens, seed, epoch, start)
        else:  # in one order for all runs, so that they can be compared sentence by sentence
            batches_of_split = source.batches(MEASURED_WORDS, 0, 0, start)
        for batch in batches_of_split:
            yield batch.to(self.device)

    def loss(self, batch: TagBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        nats, words = surprise(self.model, self.model.states(batch.inputs), batch, self.training_options.own_labels)
        return Loss(nats.sum(), words.sum())

    def measure(self, batch: TagBatch) -> dict[str, Measure]:
        return measures_of(self.sums_of_rows(batch))

    @torch.no_grad()
    def sums_of_rows(self, batch: TagBatch) -> dict[str, Float[Tensor, "batch sum"]]:
        states = self.model.states(batch.inputs)
        answers = choose_tags(self.model, states, batch.inputs.lengths)
        sums = word_sums(answers == batch.tags, batch.is_known, batch.real)
        sums["loss"] = torch.stack(surprise(self.model, states, batch), dim=1).double()
        if self.has_spans:
            counts = torch.tensor([item.sums() for item in self._count_spans(batch, answers)], dtype=torch.float64)
            sums |= {"f1": counts, "precision": counts[:, :2], "recall": counts[:, [0, 2]]}
        return sums

    @torch.no_grad()
    def measure_parts(self, batch: TagBatch) -> dict[str, dict[str, Measure]]:
        """Return the measures of each type of span."""
        measures: dict[str, dict[str, Measure]] = {}
        for counts in self._count_spans(batch, self._choose(batch)) if self.has_spans else ():
            for type_ in counts.types:
                type_measures = measure_spans(*counts.sums(type_))
                measures[type_] = (
                    {name: measures[type_][name] + type_measures[name] for name in type_measures}
                    if type_ in measures
                    else type_measures
                )
        return measures

    def _choose(self, batch: TagBatch) -> Int[Tensor, "batch time"]:
        return choose_tags(self.model, self.model.states(batch.inputs), batch.inputs.lengths)

    def _count_spans(self, batch: TagBatch, answers: Int[Tensor, "batch time"]) -> list[SpanCounts]:
        """Return the span counts of each sentence, which may have types that the model lacks."""
        every = []
        for sentence, row in zip(batch.sentences, answers.tolist(), strict=True):
            every.append(SpanCounts())
            every[-1].add(sentence.tags, [self.lexicon.tags[tag] for tag in row[: len(sentence.words)]])
        return every

    # For people

    def read(self, inputs: Sequence[str | Sequence[str] | TaggedSentence], raw: bool = False) -> TagBatch:
        """Return sentences as a batch, each given as a line, raw text, words, or words with columns."""
        sentences = [read_input(sentence_or_line, self.data, raw) for sentence_or_line in inputs]
        batch = batch_of_inputs(sentences, self.lexicon, self.tokeniser)
        pieces = int(batch.inputs.piece_lengths.max())
        self._check_length(max(len(sentence.words) for sentence in sentences), pieces, "There is a sentence")
        return batch.to(self.device)

    def _check_length(self, words: int, pieces: int, what: str) -> None:
        """Refuse a sentence that is longer than the recipe allows or the network can read."""
        limits = {"data.longest": self.data.longest, "model.longest": getattr(self.model.options, "longest", words)}
        refuse_longer(words, pieces, what, limits, self.model.reader.most_tokens())

    @torch.no_grad()
    def answers(self, batch: TagBatch) -> list[Tags]:
        states = self.model.states(batch.inputs)
        return self._named(batch, states, choose_tags(self.model, states, batch.inputs.lengths))

    @torch.no_grad()
    def answers_of(self, batch: TagBatch, tags: Int[Tensor, "batch time"]) -> list[Tags]:
        """Return these tags of each sentence by name, with their probabilities."""
        return self._named(batch, self.model.states(batch.inputs), tags)

    def _named(
        self, batch: TagBatch, states: Float[Tensor, "batch time width"], tags: Int[Tensor, "batch time"]
    ) -> list[Tags]:
        lengths = batch.inputs.lengths
        of_tags, together = probabilities_of(self.model, states, lengths, batch.real, tags)
        rows = zip(batch.sentences, tags.tolist(), of_tags.tolist(), together.tolist(), strict=True)
        return [self._answer(sentence.words, *row) for sentence, *row in rows]

    def _answer(self, words: list[str], tags: list[int], probabilities: list[float], together: float) -> Tags:
        names = [self.lexicon.tags[tag] for tag in tags[: len(words)]]
        spans = [(span.type, span.start, span.end) for span in find_spans(names)] if self.has_spans else None
        return Tags(words, names, probabilities[: len(words)], together if words else 1.0, spans)

    def sides(self, batch: TagBatch, outputs: Sequence[Any]) -> dict[str, Side]:
        return {"source": self._words(batch)}

    def _words(self, batch: TagBatch) -> Words:
        """Return the words of a single sentence, and their pieces if those are read."""
        words = list(batch.sentences[0].words)
        if self.tokeniser is None:
            return Words(words, words, list(range(len(words))))
        pieces = self.tokeniser.pieces(batch.inputs.pieces[0, : batch.inputs.piece_lengths[0]].tolist())
        begins = torch.zeros(len(pieces), dtype=torch.long)
        begins[batch.inputs.firsts[0, 1 : len(words)].cpu()] = 1
        return with_marks([Words(pieces, words, begins.cumsum(0).tolist())], *self.model.reader.around)

    @torch.no_grad()
    def follow(self, text: str) -> Followed:
        """Read one sentence, so that listeners see the inputs of its recurrent layers."""
        if self.model.options.letters.reader == "lstm":
            raise Fault("The letters of words also go through an LSTM here, so its layers cannot be told apart.")
        batch = self.read([text])
        self.model.states(batch.inputs)
        return Followed(self._words(batch))

    def extents(self, batch: TagBatch) -> dict[str, Tensor]:
        if self.tokeniser is None:
            return {"source": batch.inputs.lengths}
        before, behind = self.model.reader.around
        return {"source": batch.inputs.piece_lengths + len(before) + len(behind)}

    def quote(self, batch: TagBatch) -> str:
        return f"the sentence '{' '.join(batch.sentences[0].words)}'"

    def facts(self) -> dict[str, Any]:
        return {
            "tags": len(self.lexicon.tags),
            "words": len(self.lexicon.words),
            "letters": len(self.lexicon.letters),
            "scheme": self.data.scheme,
        }

    # Search, if the previous tag is known

    def start(self, batch: TagBatch) -> State:
        lengths = batch.inputs.lengths
        return State(
            {"states": self.model.states(batch.inputs), "lengths": lengths}, {"place": torch.zeros_like(lengths)}
        )

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Float[Tensor, "row token"], State]:
        """Return the log-probability of each tag for the next word; after the last there is only the end."""
        states, lengths = state.sentence["states"], state.sentence["lengths"]
        place = state.row["place"]
        of_row = torch.arange(len(place), device=place.device) // (len(place) // len(states))
        over = place >= lengths[of_row]
        row_states = states[of_row, place.clamp(max=states.shape[1] - 1)]
        scores = self.model.scores(row_states, tokens.clamp(max=self.begin)).log_softmax(dim=-1)
        log_probabilities = torch.full(
            (len(place), self.end + 1), float("-inf"), dtype=scores.dtype, device=scores.device
        )
        log_probabilities[:, : self.begin] = scores.masked_fill(over[:, None], float("-inf"))
        log_probabilities[:, self.end] = torch.where(over, 0.0, float("-inf"))
        return log_probabilities, State(state.sentence, {"place": place + 1})


def _tokeniser_in(files: Files, recipe: TaggingRecipe) -> Tokeniser | None:
    """Return the tokeniser in the files of a model folder, if word pieces are read."""
    return None if recipe.data.tokeniser is None else tokenisers_in(files, recipe.data.tokeniser.full())[0]

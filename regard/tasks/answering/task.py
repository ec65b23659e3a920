"""The task of answering questions: batches of stories, a class as the answer, and hops of attention over facts."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor

from regard.base.faults import TextFault
from regard.base.progress import Progress, Remark
from regard.data.stories.prepare import (
    PreparedStories,
    StoryVocabulary,
    check_stories_there,
    cut_questions,
    open_vocabulary,
    prepare_stories,
)
from regard.data.stories.reading import Question, words_in
from regard.data.stories.telling import Told, read_told
from regard.models.stories.rows import Reading, StoryNetwork, StoryWords
from regard.protocols import Loss, Measure, StoryAnswer, Tally, mean
from regard.tasks.answering.batches import PlacedStories, StoryBatch, batch_of_questions
from regard.tasks.answering.options import AnsweringRecipe, AnsweringTraining
from regard.tasks.base import Files, MembersTask, build_network, check_size, mean_of, member_seeds
from regard.viewing.sides import Facts, Side, Steps

MEASURES = ("error", "mean_error", "loss", "agreement")


def nats_of(
    logits: Float[Tensor, "member batch class"], labels: Int[Tensor, " batch"]
) -> Float[Tensor, "member batch"]:
    """Return the surprisal of each right answer in nats; an answer that the model cannot give counts as zero."""
    log_probabilities = logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    index = labels.clamp_min(0).expand(len(logits), -1).unsqueeze(2)
    return -log_probabilities.gather(2, index).squeeze(2) * (labels >= 0)


def nats_of_hops(
    looks: Float[Tensor, "member batch hop slot"], support: Int[Tensor, "batch fact"], last_again: bool = False
) -> Float[Tensor, "member batch"]:
    """−Σ_k log p_k(f_k): each hop should attend to the supporting fact of its number, if there is one.

    Weston et al. 2015 train hops this way, with a margin instead of the logarithm. They also stop at the last
    supporting fact; with `last_again`, further hops should attend to it again.
    """
    hops = looks.shape[2]
    targets = F.pad(support, (0, max(0, hops - support.shape[1])), value=-1)[:, :hops]
    if last_again:
        numbers = torch.arange(hops, device=targets.device)
        last = torch.where(targets >= 0, numbers, 0).amax(1, keepdim=True)
        targets = torch.where(numbers > last, targets.gather(1, last), targets)
    index = targets.clamp_min(0).expand(len(looks), -1, -1).unsqueeze(3)
    weights = looks.gather(3, index).squeeze(3)
    return -(weights.clamp_min(torch.finfo(weights.dtype).tiny).log() * (targets >= 0)).sum(-1)


def facts_looked_at(
    looks: Float[Tensor, "member batch hop slot"], support: Int[Tensor, "batch fact"]
) -> tuple[Float[Tensor, "member batch"], Float[Tensor, " batch"]]:
    """Count, per question, the supporting facts that some hop attends to most, and all supporting facts."""
    most = looks.argmax(-1)
    is_seen = (most.unsqueeze(3) == support[:, None]).any(2) & (support >= 0)
    return is_seen.sum(-1).double(), (support >= 0).sum(-1).double()


def measures_of(reading: Reading, batch: StoryBatch, chosen: int) -> dict[str, Measure]:
    """Return the measures of a batch; error and agreement are of the chosen restart, the others of all."""
    count, members = float(batch.rows), len(reading.logits)
    nats = nats_of(reading.logits, batch.labels).double().sum(-1).tolist()
    wrong = (100 * (reading.logits.argmax(-1) != batch.labels).double()).sum(-1).tolist()
    seen, supporting = facts_looked_at(reading.looks, batch.support)
    prefix = f"lowest training error of {members} restarts|" if members > 1 else ""
    mean_of_all = mean_of(members, "restarts")
    measures = {"error": Measure(Tally((wrong[chosen], count), mean), "lower", f"{prefix}percent of the questions")}
    if members > 1:
        tallies = [Tally((errors, count), mean) for errors in wrong]
        measures["mean_error"] = Measure.of_members(tallies, "lower", f"{mean_of_all}percent")
    learnt = float((batch.labels >= 0).sum())
    tallies = [Tally((member_nats, learnt), mean) for member_nats in nats]
    measures["loss"] = Measure.of_members(
        tallies, "lower", f"{mean_of_all}nats per question whose answer was learnt|range:0-inf"
    )
    if total := float(supporting.sum()):
        tally = Tally((100 * float(seen[chosen].sum()), total), mean)
        measures["agreement"] = Measure(
            tally, "higher", f"{prefix}percent of the supporting facts that a hop looks at most"
        )
    return measures


HIGHEST = 1e30  # stands for the lowest loss before there is one; a model folder holds only finite numbers


class Answering(MembersTask[PreparedStories]):
    """A network that reads stories, its words and answers, and how restarts of it learn side by side."""

    MEASURES: ClassVar[tuple[str, ...]] = MEASURES
    MEMBERS = "restarts"
    unit = "questions"
    lowest: Tensor  # validation loss of each restart during its linear start
    waited: Tensor  # validations since then

    def __init__(self, model: StoryNetwork, vocabulary: StoryVocabulary, training: AnsweringTraining) -> None:
        super().__init__(model, training.members)
        self.vocabulary, self.training_options = vocabulary, training
        self.register_buffer("lowest", torch.full((self.members,), HIGHEST))
        self.register_buffer("waited", torch.zeros(self.members))
        if training.linear_start and model.linear is not None:
            model.linear.fill_(1.0)
        self._placed: dict[str, PlacedStories] = {}

    # Construction

    @classmethod
    def check(cls, recipe: AnsweringRecipe, device: torch.device, folder: Path | None) -> None:
        check_stories_there(recipe.data, folder)
        check_size(recipe, StoryWords(2, 2, recipe.data.facts), member_seeds(recipe))

    @classmethod
    def prepare(
        cls, recipe: AnsweringRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedStories:
        return prepare_stories(recipe.data, folder, progress, start)

    @classmethod
    def build(cls, recipe: AnsweringRecipe, files: Files) -> "Answering":
        vocabulary, training = open_vocabulary(files), recipe.training
        words = StoryWords(len(vocabulary.names), len(vocabulary.classes), vocabulary.slots)
        return cls(build_network(recipe, words, member_seeds(recipe)), vocabulary, training)

    def learn_from(self, prepared: PreparedStories, recipe: AnsweringRecipe) -> None:
        self._material, self._placed = prepared, {}

    # Training and evaluation

    def batches(self, split: str, seed: int, epoch: int, start: int) -> Iterator[StoryBatch]:
        stories, options = self._stories(split), self.training_options
        if split != "train":
            return stories.in_order(start)
        return stories.shuffled(options.batch, options.empty_memories, (seed, epoch), start)

    def _stories(self, split: str) -> PlacedStories:
        if split not in self._placed or self._placed[split].device != self.device:
            self._placed[split] = PlacedStories(self.material.splits[split], self.vocabulary.slots, self.device)
        return self._placed[split]

    def loss(self, batch: StoryBatch, carry: dict[str, Tensor] | None = None) -> Loss:
        """Return the cross-entropy summed over questions and restarts, plus that of supervised hops.

        A restart without softmaxes learns at half the rate, through half the gradient; its loss is reported unscaled.
        """
        reading = self.model(batch.stories)
        nats = nats_of(reading.logits, batch.labels).sum(-1)
        learnt, tallies = nats, {}
        if weight := self.training_options.supervise_hops:
            last_again = self.training_options.supervise_last
            of_hops = nats_of_hops(reading.looks, batch.support, last_again).sum(-1)
            learnt = nats + weight * of_hops
            total, count = of_hops.detach().sum(), float(self.members * batch.rows)
            tallies = {"hops": Tally((total, count), mean)}
        if self.model.linear is not None:
            learnt = learnt * (1 - self.model.linear / 2)
        learnt = learnt.sum()
        return Loss(nats.detach().sum() + learnt - learnt.detach(), batch.rows, tallies)

    @torch.no_grad()
    def choose_member(self) -> None:
        """Find the restart with the lowest error on its training data."""
        wrong, stories = torch.zeros_like(self.model.train_errors), self._stories("train")
        for batch in stories.in_order(0):
            wrong += (self.model(batch.stories).logits.argmax(-1) != batch.labels).sum(-1)
        self.model.train_errors.copy_(100 * wrong / len(stories))

    @torch.no_grad()
    def adapt(self, step: int, measures: Mapping[str, Measure]) -> bool:
        """Restore softmaxes where the validation loss no longer falls."""
        options, linear = self.training_options, self.model.linear
        if linear is None or not options.linear_start:
            return False
        losses = self.lowest.new_tensor(measures["loss"].members)
        self.waited.copy_(torch.where(losses < self.lowest, 0, self.waited + 1))
        self.lowest.copy_(torch.minimum(losses, self.lowest))
        is_patient = self.waited < (options.linear_patience or float("inf"))
        stays_linear = linear * (is_patient & (step < options.linear_start))
        has_changed = bool((stays_linear != linear).any())
        linear.copy_(stays_linear)
        return has_changed

    @torch.no_grad()
    def measure(self, batch: StoryBatch) -> dict[str, Measure]:
        return measures_of(self.model(batch.stories), batch, self.model.chosen)

    @torch.no_grad()
    def measure_parts(self, batch: StoryBatch) -> dict[str, dict[str, Measure]]:
        """Return the measures of each file of stories."""
        names = self.material.parts
        return {names[part]: self.measure(batch.where(batch.parts == part)) for part in np.unique(batch.parts)}

    # For people

    def read(self, inputs: Sequence[Any]) -> StoryBatch:
        """Read stories as people write them, each ending with a question; unknown words are refused."""
        stories_told = [read_told(str(text), number) for number, text in enumerate(inputs)]
        for number, story in enumerate(stories_told):
            self._refuse_unknown(story, number)
        questions = [Question(story.facts, story.question, "", (), 0) for story in stories_told]
        stories = cut_questions(questions, [0] * len(stories_told), self.vocabulary)
        return batch_of_questions(stories, self.vocabulary.slots, self.device, stories_told)

    def _refuse_unknown(self, story: Told, number: int) -> None:
        vocabulary = set(self.vocabulary.words)
        for line in (*story.facts, story.question):
            if unknown := next((word for word in words_in(line) if word not in vocabulary), None):
                near = get_close_matches(unknown, self.vocabulary.words, 1)
                hint = f"did you mean '{near[0]}'?" if near else f"it knows {len(vocabulary)} words."
                place = f"'{line[:60]}'" if line is story.question else f"the fact '{line[:60]}' before this question"
                raise TextFault(number, f"the model does not know the word '{unknown[:60]}' of {place}; {hint}")

    @torch.no_grad()
    def answers(self, batch: StoryBatch) -> list[StoryAnswer]:
        """Return the most probable answer to each question, by the chosen restart."""
        rows = self.model(batch.stories).logits[self.model.chosen].float().softmax(-1).tolist()
        named = [dict(zip(self.vocabulary.classes, row, strict=True)) for row in rows]
        best = [max(row, key=row.__getitem__) for row in named]
        return [
            StoryAnswer(name, row[name], row, forgotten)
            for name, row, forgotten in zip(best, named, batch.forgotten, strict=True)
        ]

    def sides(self, batch: StoryBatch, outputs: Sequence[StoryAnswer]) -> dict[str, Side]:
        story, forgotten = batch.told[0], batch.forgotten[0]
        hops = [f"hop {number}" for number in range(1, self.model.hops + 1)]
        return {"hops": Steps(hops), "facts": Facts(story.facts[forgotten:], story.question, story.facts[:forgotten])}

    def quote(self, batch: StoryBatch) -> str:
        words = [self.vocabulary.names[number - 1] for number in batch.stories.questions[0].tolist() if number]
        label = int(batch.labels[0])
        return f"'{' '.join(words)}', answered '{self.vocabulary.classes[label] if label >= 0 else 'otherwise'}'"

    def facts(self) -> dict[str, Any]:
        return {
            "words": len(self.vocabulary.words),
            "answers": len(self.vocabulary.classes),
            "facts": self.vocabulary.slots,
            "hops": self.model.hops,
            "members": self.members,
        }

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of an answer about `size` facts of ten words."""
        return {"multiplications": self.model.multiplications(size, 10)}

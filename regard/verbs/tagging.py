"""Tags for the words of sentences: read as people write them, and searched for where one tag leads to the next."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.base.faults import Fault
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.protocols import Tags
from regard.tasks.tagging.task import Tagging


@dataclass(frozen=True)
class TagSearch:
    """How sentences are read, and how wide tags are searched for; a beam of one takes the best tag at each word."""

    beam: int | None = None
    raw: bool = False

    @property
    def given(self) -> list[str]:
        """What is asked for by name."""
        return [name for name in ("beam", "raw") if getattr(self, name)]


def tag_sentences(task: Tagging, inputs: Sequence[str | Sequence[str]], search: TagSearch) -> list[Tags]:
    """The tags of each sentence."""
    batch = task.read(inputs, search.raw)
    if not search.beam:
        return task.answers(batch)
    if not task.knows_label_before:
        chosen = "all tags of a sentence together, by Viterbi's algorithm" if task.model.chain else "each tag by itself"
        raise Fault(f"A beam is for models with model.previous_label = true; this one chooses {chosen}.")
    options = DecodingOptions(beam=search.beam, length_penalty=0.0)
    found = beam_search(task, batch, batch.inputs.lengths + 1, options)
    tags = torch.zeros_like(batch.tags)
    for row, (best, *_) in zip(tags, found, strict=True):
        row[: len(best.tokens)] = torch.tensor(best.tokens)
    return task.answers_of(batch, tags)

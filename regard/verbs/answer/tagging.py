"""Tags for the words of sentences: read as people write them, and searched for where one tag leads to the next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from regard.base.faults import Fault
from regard.data.tagging.files import TaggedSentence, words_of
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.loading import Loaded, load_as
from regard.protocols import Tags
from regard.tasks.tagging.task import Tagging

TAGGERS = "taggers"  # in the folder of a tagger: other taggers, each named after the column that it finds
Sentences = Sequence[str | Sequence[str] | TaggedSentence]


@dataclass(frozen=True)
class TagSearch:
    """Search for tags: how sentences are read, and the beam; a beam of one takes the best tag at each word.

    The taggers find the columns that a model reads beside words, one for each column.
    """

    beam: int | None = None
    raw: bool = False
    taggers: tuple[Tagging, ...] = ()

    @property
    def given(self) -> list[str]:
        """Options that the user gave, by name."""
        return [name for name in ("beam", "raw") if getattr(self, name)]


def tag_search(model: Loaded, beam: int | None, raw: bool, taggers: Sequence[Loaded]) -> TagSearch:
    """Return how sentences are read and tagged, with the help of these taggers."""
    tasks = [each.task for each in taggers]
    return TagSearch(beam, raw, check_taggers(model.task, tasks) if tasks else ())


def own_taggers(model: Loaded) -> list[Loaded]:
    """Load the taggers in a model's folder that find what it reads beside words: `taggers/pos` for the column pos."""
    beside = model.task.data.read_beside if isinstance(model.task, Tagging) else []
    folders = [model.folder / TAGGERS / column for column in beside] if model.folder else []
    return [load_as(Loaded, folder) for folder in folders] if all(folder.is_dir() for folder in folders) else []


def check_taggers(task: Any, taggers: Sequence[Any]) -> tuple[Tagging, ...]:
    """Return the taggers if they find what the task reads beside words; others are refused."""
    if not isinstance(task, Tagging):
        raise Fault("tagger is for models that give a tag to each word, which this one does not.")
    beside = task.data.read_beside
    if len(taggers) != len(beside):
        reads = f"reads {' and '.join(beside)} beside each word" if beside else "reads words alone"
        raise Fault(
            f"This model {reads}, and {len(taggers)} taggers are given; give one for each column that it reads."
        )
    for place, tagger in enumerate(taggers):
        if not isinstance(tagger, Tagging) or tagger.data.read_beside:
            raise Fault(f"What is to find {beside[place]} must be a tagger that reads words alone; give another model.")
        if not finds_column(task, place, tagger):
            known, own = (", ".join(names[:3]) for names in (task.lexicon.columns[place], tagger.lexicon.tags))
            raise Fault(f"This model reads {beside[place]} such as {known}, but the tagger gives {own}; give another.")
    return tuple(taggers)


def finds_column(task: Tagging, place: int, tagger: Tagging) -> bool:
    """Return True if a column of the task knows at least half of the tags that a tagger gives."""
    tags = set(tagger.lexicon.tags)
    return 2 * len(tags.intersection(task.lexicon.columns[place])) >= len(tags)


def fill_columns(inputs: Sentences, search: TagSearch) -> Sentences:
    """Return the sentences with the columns that the taggers of the search find, if it has any."""
    if not search.taggers:
        return inputs
    words = [words_of(each, search.raw) for each in inputs if not isinstance(each, TaggedSentence)]
    columns = [[tags.answers for tags in tag_sentences(each, words, TagSearch())] for each in search.taggers]
    return [TaggedSentence(own, [], list(beside)) for own, *beside in zip(words, *columns, strict=True)]


def tag_sentences(task: Tagging, inputs: Sentences, search: TagSearch) -> list[Tags]:
    """Return the tags of each sentence."""
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

"""Tagging words: reading sentences, other columns from other taggers, and beam search over tags."""

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

TAGGERS = "taggers"  # in a tagger's folder: other taggers, each named after the column that it finds
Sentences = Sequence[str | Sequence[str] | TaggedSentence]


@dataclass(frozen=True)
class TagSearch:
    """Options for reading sentences and searching for tags; a beam of one takes the best tag at each word.

    The taggers find the other columns that a model reads, one tagger for each column.
    """

    beam: int | None = None
    raw: bool = False
    taggers: tuple[Tagging, ...] = ()

    @property
    def given(self) -> list[str]:
        """Names of the options that are set."""
        return [name for name in ("beam", "raw") if getattr(self, name)]


def tag_search(model: Loaded, beam: int | None, raw: bool, taggers: Sequence[Loaded]) -> TagSearch:
    """Return a search for tags with these options and taggers."""
    tasks = [tagger.task for tagger in taggers]
    return TagSearch(beam, raw, check_taggers(model.task, tasks) if tasks else ())


def own_taggers(model: Loaded) -> list[Loaded]:
    """Load the taggers in a model's folder for the other columns it reads: `taggers/pos` for the column pos."""
    columns = model.task.data.read_beside if isinstance(model.task, Tagging) else []
    folders = [model.folder / TAGGERS / column for column in columns] if model.folder else []
    return [load_as(Loaded, folder) for folder in folders] if all(folder.is_dir() for folder in folders) else []


def check_taggers(task: Any, taggers: Sequence[Any]) -> tuple[Tagging, ...]:
    """Return the taggers if they find the columns that the task reads; refuse others."""
    if not isinstance(task, Tagging):
        raise Fault("tagger is for models that tag each word; this one does not.")
    columns = task.data.read_beside
    if len(taggers) != len(columns):
        reads = f"reads {' and '.join(columns)} with each word" if columns else "reads only words"
        raise Fault(
            f"This model {reads}, but {len(taggers)} taggers are given; give one for each column that it reads."
        )
    for place, tagger in enumerate(taggers):
        if not isinstance(tagger, Tagging) or tagger.data.read_beside:
            raise Fault(f"The tagger for {columns[place]} must be one that reads only words; give another model.")
        if not finds_column(task, place, tagger):
            expected, actual = (", ".join(names[:3]) for names in (task.lexicon.columns[place], tagger.lexicon.tags))
            raise Fault(
                f"This model reads {columns[place]} such as {expected}, but the tagger gives {actual}; give another."
            )
    return tuple(taggers)


def finds_column(task: Tagging, place: int, tagger: Tagging) -> bool:
    """Return True if a column of the task has at least half of the tags that a tagger gives."""
    tags = set(tagger.lexicon.tags)
    return 2 * len(tags.intersection(task.lexicon.columns[place])) >= len(tags)


def fill_columns(inputs: Sentences, search: TagSearch) -> Sentences:
    """Return the sentences with the columns that the search's taggers find, if it has any."""
    if not search.taggers:
        return inputs
    words = [words_of(item, search.raw) for item in inputs if not isinstance(item, TaggedSentence)]
    columns = [[tags.answers for tags in tag_sentences(item, words, TagSearch())] for item in search.taggers]
    return [
        TaggedSentence(sentence, [], list(tags_found)) for sentence, *tags_found in zip(words, *columns, strict=True)
    ]


def tag_sentences(task: Tagging, inputs: Sentences, search: TagSearch) -> list[Tags]:
    """Return the tags of each sentence."""
    batch = task.read(inputs, search.raw)
    if not search.beam:
        return task.answers(batch)
    if not task.knows_label_before:
        how = "all tags of a sentence together, by Viterbi's algorithm" if task.model.chain else "each tag separately"
        raise Fault(f"A beam is for models with model.previous_label = true; this one chooses {how}.")
    options = DecodingOptions(beam=search.beam, length_penalty=0.0)
    hypotheses = beam_search(task, batch, batch.inputs.lengths + 1, options)
    tags = torch.zeros_like(batch.tags)
    for row, (best, *_) in zip(tags, hypotheses, strict=True):
        row[: len(best.tokens)] = torch.tensor(best.tokens)
    return task.answers_of(batch, tags)

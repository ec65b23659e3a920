"""The texts that a model learnt from, as its recipe names them, and samples of them."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.data.corpora.options import PairData
from regard.data.corpora.text import read_pairs
from regard.data.labelled.options import LabelledData
from regard.data.labelled.prepare import read_splits
from regard.data.labelled.reading import Example
from regard.data.texts.options import LanguageData
from regard.data.texts.recipe_lines import lines_of_split
from regard.loading import Loaded

_FIRST = 500  # texts that show a language
_REPORT_EVERY = 10_000


class NoTrainingTexts(Fault):
    """The training data of a model cannot be read."""


class TrainingText(NamedTuple):
    """A text to learn from, and its translation or its label, if it has one."""

    text: str
    answer: str = ""


@dataclass(frozen=True)
class TextSample:
    """Some of the texts that a model learnt from, in their order, and the number of all."""

    texts: list[TrainingText]
    total: int


def sample_texts(model: Loaded, most: int, always: str = "", progress: Progress = silent) -> TextSample:
    """Draw at most `most` training texts, always the same ones; those equal to `always` are among them.

    Every text is read once, and only the sample is kept.
    """
    dice, kept, total = random.Random(0), dict[int, TrainingText](), 0
    wanted = dict[int, TrainingText]()
    places = list[int]()  # of the texts in the sample
    for number, text in enumerate(training_texts(model)):
        total = number + 1
        if total % _REPORT_EVERY == 0:
            progress("reading training texts", total, None)
        if text.text.strip() == always.strip() and len(wanted) < most:
            wanted[number] = text
        if len(places) < most:
            places.append(number)
        elif (place := dice.randrange(total)) < most:  # every text is as likely to stay
            del kept[places[place]]
            places[place] = number
        else:
            continue
        kept[number] = text
    if not total:
        raise Fault("The training data of this model is empty.")
    for number in islice((place for place in places if place not in wanted), max(0, len({*kept, *wanted}) - most)):
        del kept[number]
    return TextSample([text for _, text in sorted((kept | wanted).items())], total)


def first_texts(model: Loaded) -> list[str]:
    """Return the first training texts of a model."""
    return [text.text for text in islice(training_texts(model), _FIRST)]


def names_training_texts(model: Loaded) -> bool:
    """Return True if the model's recipe names texts to learn from."""
    return isinstance(getattr(model.recipe, "data", None), PairData | LanguageData | LabelledData)


def training_texts(model: Loaded) -> Iterator[TrainingText]:
    """Yield the texts that the model's recipe names for training; refuse if they are gone."""
    data = getattr(model.recipe, "data", None)
    try:
        if isinstance(data, PairData):
            for corpus in data.train:
                yield from (TrainingText(*pair) for pair in read_pairs(corpus))
        elif isinstance(data, LanguageData):
            yield from (TrainingText(line.text) for line in lines_of_split(data, "train") if line.text.strip())
        elif isinstance(data, LabelledData):
            yield from (_labelled(data, example) for example in read_splits(data, silent)["train"])
        else:
            raise Fault("Its recipe names no texts to learn from.")
    except Fault as fault:
        raise NoTrainingTexts(f"The training data of this model cannot be read: {fault}") from None


def _labelled(data: LabelledData, example: Example) -> TrainingText:
    """Return an example as people would give it to the model: an aspect in brackets, a second text after a tab."""
    text = example.text
    if data.has_pairs:
        text = f"{text}\t{example.aspect}"
    elif example.aspect:
        before, after = example.before_aspect, text[len(example.before_aspect) + len(example.aspect) :]
        text = f"{before}[{example.aspect}]{after}"
    return TrainingText(text, example.label)

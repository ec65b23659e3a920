"""The doors of word vectors: neighbours of words, analogies, and maps."""

from typing import Any

from regard.base.doors import DoorAnswer, ModelBody, Price, Question, VerbDoor, check_amount, check_texts
from regard.base.faults import Fault
from regard.base.pauses import between_steps
from regard.base.progress import ignore_remark
from regard.verbs.words.request import AnalogyRequest, MapRequest, NeighboursRequest

_LISTED = 250  # neighbours that cost as much to list as to find


class NeighboursBody(NeighboursRequest, ModelBody):
    """The words whose neighbours are wanted, and the model."""


class AnalogyBody(AnalogyRequest, ModelBody):
    """The first three words of an analogy, and the model."""


class MapBody(MapRequest, ModelBody):
    """The words to put on a map, and the model."""


class WordNeighbours(DoorAnswer):
    """The words nearest to a word, each with its cosine, as `regard neighbours --json` prints them.

    `word` is the vocabulary word used for the query; its case may differ.
    """

    query: str
    word: str
    neighbours: list[tuple[str, float]]


class NeighboursAnswer(DoorAnswer):
    """The neighbours of each word, in the order of the request."""

    model: str
    seconds: float
    words: list[WordNeighbours]


class AnalogyAnswer(DoorAnswer):
    """The word that completes an analogy and the runners-up, each with its cosine."""

    model: str
    seconds: float
    words: tuple[str, str, str]
    word: str
    neighbours: list[tuple[str, float]]


class MapAnswer(DoorAnswer):
    """Words on a plane, in the format of the page of `regard map`."""

    model: str
    seconds: float
    map: dict[str, Any]


def _check_map(question: Question[MapBody]) -> MapBody:
    count, most = _mapped_words(question.body), question.limits.mapped
    check_amount(question.texts, question.limits)
    if count > most:
        raise Fault(f"These may be {count:,} words, but a map here has at most {most:,}.")
    return question.body


def _mapped_words(request: MapRequest) -> int:
    """Return the largest number of words that a requested map may have."""
    return len(request.words) * (1 + request.around) or request.count


def _neighbours(question: Question[NeighboursBody]) -> list[Any]:
    body, model = question.body, question.model.model
    return list(model.neighbours(body.words, body.count, body.side))


def _analogy(question: Question[AnalogyBody]) -> dict[str, Any]:
    body, model = question.body, question.model.model
    return dict(model.analogy(*body.words, body.count, body.side).as_dict())


def _map(question: Question[MapBody]) -> dict[str, Any]:
    from regard.verbs.words.lexicon import Lexicon
    from regard.verbs.words.maps import map_words
    from regard.viewing.word_map import map_data

    model_lexicon = question.model.model.lexicon(question.body.side)
    lexicon = Lexicon(question.model.name, model_lexicon.vectors, model_lexicon.compose)
    return {"map": map_data(map_words(lexicon, question.body, lambda *done: between_steps(), ignore_remark))}


DOORS = (
    VerbDoor(
        path="/v1/neighbours",
        can="neighbours",
        summary="Words nearest to each word.",
        body=NeighboursBody,
        answer=NeighboursAnswer,
        texts="words",
        ready=check_texts,
        price=Price("words, more for many neighbours", 20),
        costs=lambda question: [1 + question.body.count / _LISTED] * len(question.body.words),
        work=_neighbours,
        write=lambda found: WordNeighbours(**found.as_dict()),
        listed="words",
    ),
    VerbDoor(
        path="/v1/map",
        can="neighbours",
        summary="Words on a plane.",
        body=MapBody,
        answer=MapAnswer,
        texts="words",
        ready=_check_map,
        price=Price("words, ten times for t-SNE", 500),
        costs=lambda question: [float(_mapped_words(question.body) * (10 if question.body.method == "t-sne" else 1))],
        work=_map,
    ),
    VerbDoor(
        path="/v1/analogy",
        can="analogy",
        summary="The word that is to c as b is to a.",
        body=AnalogyBody,
        answer=AnalogyAnswer,
        texts="words",
        ready=check_texts,
        price=Price("words, more for many answers", 20),
        costs=lambda question: [3 + question.body.count / _LISTED],
        work=_analogy,
    ),
)

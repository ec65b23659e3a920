"""The table of prices: what the work behind each door is counted in, before any of it is done.

A price counts what the work takes time for: tokens to read and to write, frames of sound, pixels, drawings. It never
counts the bytes of a file, of which few may hold much. The queue measures how many units a model does in a second, for
each price by itself; the speeds in this table are believed until then, and err on the slow side.

Every door behind which a model works has its row here; no work reaches the queue without one (`Catalogue.each`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from regard.data.media_sizes import picture_pixels, sound_seconds
from regard.engines.exported import CTRANSLATE2
from regard.serving.queue.turns import Price
from regard.tasks.speaking.options import SECONDS_A_SYMBOL, SECONDS_MORE
from regard.verbs.answer.request import DrawingInput, Input, PictureInput
from regard.verbs.transcribe.request import FUSED_BEAM, SoundInput

_FRAME = 0.01  # seconds of sound
_CELL = 1000  # pixels, which cost about as much as a letter
_CAPTION = 20  # tokens, about
_LISTED = 250  # neighbours that cost as much to write down as to find
_ROUNDS = 30  # of Griffin and Lim, which cost about as much as the network that speaks


@dataclass(frozen=True)
class Row:
    """A row of the table: a price, and the costs of the items of a request, given the model and what is asked of it."""

    price: Price
    costs: Callable[[Any, Any], Sequence[float]]
    by_ctranslate2: Price | None = None  # which is quicker, but cannot be interrupted

    def price_of(self, asked: Any) -> Price:
        """Return the price of what is asked, by the engine that will do it."""
        plan = getattr(asked, "plan", None)  # of texts to translate alone
        can_pause = plan is None or plan.engine != CTRANSLATE2
        return self.price if can_pause or self.by_ctranslate2 is None else self.by_ctranslate2


def input_cost(given: Input, reads: str = "") -> float:
    """Return the cost of reading an input, by its letters, frames of sound, cells of pixels, or points."""
    match given:
        case SoundInput():
            return 1 + sound_seconds(given.content) / _FRAME
        case PictureInput():
            return 1 + picture_pixels(given.content, reads == "video") / _CELL
        case DrawingInput():
            return 1.0 + sum(map(len, given.drawing))
        case str():
            return 1.0 + len(given)
    return 1.0


def speech_seconds(request: Any) -> list[float]:
    """Return the seconds after which the sound of each text is cut at the latest."""
    return [request.seconds or SECONDS_MORE + SECONDS_A_SYMBOL * len(text) for text in request.text]


def mapped_words(request: Any) -> int:
    """Return how many words a map may have."""
    return len(request.words) * (1 + request.around) or int(request.count)


def _answers(model: Any, request: Any) -> list[float]:
    return [input_cost(each, model.reads) * (request.beam or 1) for each in request.inputs]


def _captions(model: Any, request: Any) -> list[float]:
    return [input_cost(each, model.reads) + _CAPTION * (request.beam or 1) for each in request.pictures]


def _transcripts(model: Any, request: Any) -> list[float]:
    beam = request.beam or (0 if request.fuse is None else FUSED_BEAM)
    return [input_cost(each) * (1 + beam) for each in request.sounds]


def _sounds(model: Any, request: Any) -> list[float]:
    return [seconds / _FRAME * (1 + request.rounds / _ROUNDS) for seconds in speech_seconds(request)]


def _drawings(model: Any, request: Any) -> list[float]:
    given = [request.complete or [], request.reconstruct or [], *(request.between or [])]
    points = sum(len(stroke) for strokes in given for stroke in strokes)
    return [request.count * (1 + (points + len(request.prompt or "")) / 100)]


def _texts(model: Any, request: Any) -> list[float]:
    return [1.0 + len(text) for text in request.text]


def _continuations(model: Any, request: Any) -> list[float]:
    rows = request.samples or request.beam or request.n_best or 1
    return [float(1 + len(prompt) + request.tokens * rows) for prompt in request.prompt]


def _one_sentence(model: Any, request: Any) -> list[float]:
    beam = getattr(request, "beam", None) or model.decoding.beam
    return [(1.0 + len(request.text)) * (1 + beam)]


def _neighbours(model: Any, request: Any) -> list[float]:
    return [1 + request.count / _LISTED] * len(request.words)


def _map(model: Any, request: Any) -> list[float]:
    return [float(mapped_words(request) * (10 if request.method == "t-sne" else 1))]


_TRANSLATING = Row(
    Price("tokens, to read and to write in each row of the search", 1000, ordinary=250),
    lambda model, job: model.costs(job.plan, job.pieces),
    Price("tokens, as above, by CTranslate2", 1000, ordinary=250, longest=1.0),
)
_LOOKING_AT_A_SENTENCE = Row(Price("letters, in each row of the search", 1000), _one_sentence)

PRICES: Mapping[str, Row] = {
    "/translate": _TRANSLATING,
    "/v1/translate": _TRANSLATING,
    "/v1/attention": _LOOKING_AT_A_SENTENCE,
    "/v1/next": _LOOKING_AT_A_SENTENCE,
    "/v1/beam": _LOOKING_AT_A_SENTENCE,
    "/v1/answer": Row(
        Price("letters, frames of 10 ms, thousands of pixels, points or nodes", 1000, ordinary=250), _answers
    ),
    "/v1/look": Row(
        Price("letters, frames of 10 ms, thousands of pixels or points", 500),
        lambda model, request: [input_cost(request.input, model.reads)],
    ),
    "/v1/generate": Row(Price("tokens to write in each row, and letters to read", 1000, ordinary=250), _continuations),
    "/v1/prompt": Row(Price("letters", 1000), lambda model, request: [1.0 + len(request.prompt)]),
    "/v1/caption": Row(
        Price("thousands of pixels, and 20 tokens for each place in the beam", 2000, ordinary=400), _captions
    ),
    "/v1/transcribe": Row(Price("frames of 10 ms, for each place in the beam", 1000, ordinary=300), _transcripts),
    "/v1/speak": Row(
        Price("frames of 10 ms at most, and rounds of Griffin and Lim for each", 2000, ordinary=1500), _sounds
    ),
    "/v1/draw": Row(Price("drawings, more for each point or letter given", 2), _drawings),
    "/v1/embed": Row(Price("letters", 2000, ordinary=250), _texts),
    "/v1/neighbours": Row(Price("words, more for many neighbours", 20), _neighbours),
    "/v1/analogy": Row(Price("words, more for many answers", 20), lambda model, request: [3 + request.count / _LISTED]),
    "/v1/map": Row(Price("words, ten times for t-SNE", 500), _map),
}

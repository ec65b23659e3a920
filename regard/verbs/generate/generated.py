"""Texts that a language model wrote after a prompt, and the searches that requests ask for; imports no torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from regard.base.notebook import paragraph, tokens_by_probability
from regard.data.tokenisers.tokeniser import Tokeniser
from regard.decoding.options import DecodingOptions, change_options
from regard.decoding.output import Hypothesis
from regard.verbs.generate.request import GenerateRequest


class Writes(Protocol):
    """A language model that turns tokens into text."""

    @property
    def tokeniser(self) -> Tokeniser: ...
    def write(self, tokens: Sequence[int]) -> str: ...


@runtime_checkable
class Forgets(Protocol):
    """A task that may forget the first tokens it read."""

    def forgotten(self, tokens: int) -> int: ...


Ending = Literal["end", "tokens", "context", "rules"]


@dataclass(frozen=True)
class Generated:
    """A prompt and its continuation: `text` is both, tokens and scores are those of the continuation.

    `ended` says why it ended. "end": by its end token, which then has a score too. Otherwise it was cut without an end:
    after the requested number of tokens, where the context was full, or where the rules of the search left nothing to
    write. The `score` is the sum of the token scores; in a beam it is divided by the length penalty for that number of
    scores. `forgotten` counts the first tokens, beginning with the prompt, that a model with a full context no longer
    saw at the end.
    """

    prompt: str
    text: str
    score: float
    tokens: list[str]
    token_scores: list[float]
    ended: Ending = "end"
    forgotten: int = 0

    def __repr__(self) -> str:
        return f"Generated({self.text!r}, score {self.score:.3f})"

    def _repr_html_(self) -> str:
        return paragraph(self.text) + tokens_by_probability(self.tokens, self.token_scores)

    def as_dict(self) -> dict[str, Any]:
        return {
            "prompt": self.prompt,
            "text": self.text,
            "score": self.score,
            "tokens": self.tokens,
            "token_scores": self.token_scores,
            "ended": self.ended,
            "forgotten": self.forgotten,
        }

    @property
    def remark(self) -> str | None:
        """A sentence on how the context or the rules of the search cut the text; None if they did not."""
        if self.ended == "context":
            return (
                f"The context was full after {len(self.tokens):,} tokens, so the text stops there; with --when-full "
                "forget, the model forgets the older half and continues."
            )
        if self.ended == "rules":
            return (
                f"After {len(self.tokens):,} tokens the rules of the search left nothing to write, so the text stops."
            )
        if self.forgotten:
            return f"The context was full, so the first {self.forgotten:,} tokens of the text were forgotten."
        return None


def search_of(options: DecodingOptions, request: GenerateRequest) -> DecodingOptions:
    """Return the options of the search that a request asks for."""
    changes = {name: getattr(request, name) for name in ("beam", "length_penalty", "n_best")} | request.search
    if not request.draws:
        return change_options(options, changes, None)
    sampling = request.sample.model_dump(exclude_unset=True) if request.sample else {}
    return change_options(options, changes, sampling | ({"samples": request.samples} if request.samples else {}))


def generation_of(
    task: Writes, prompt: str, read: Sequence[int], hypothesis: Hypothesis, limit: int, request: GenerateRequest
) -> Generated:
    """Return a hypothesis as text."""
    before = task.write(read)
    text = stem_of(prompt, before) + task.write([*read, *hypothesis.tokens]).removeprefix(before)
    forgotten = task.forgotten(len(read) + len(hypothesis.tokens)) if isinstance(task, Forgets) else 0
    tokens = task.tokeniser.pieces(hypothesis.tokens)
    ended = _ending(hypothesis, limit, request)
    return Generated(prompt, text, hypothesis.score, tokens, hypothesis.token_scores, ended, forgotten)


def _ending(hypothesis: Hypothesis, limit: int, request: GenerateRequest) -> Ending:
    if hypothesis.has_ended:
        return "end"
    if len(hypothesis.tokens) < limit:
        return "rules"
    return "tokens" if limit == request.tokens else "context"


def stem_of(prompt: str, written: str) -> str:
    """Return the prompt in the form to which the continuation is joined; `written` is its text by tokens.

    It stays unchanged, unknown words included, except for trailing spaces that no token stands for.
    """
    return prompt if written in ("", prompt) else prompt.rstrip(" ")

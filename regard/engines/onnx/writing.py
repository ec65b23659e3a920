"""Continue prompts with onnxruntime, without torch: the export of a GPT, one text at a time."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from regard.base.faults import TextFault
from regard.data.texts.options import TextTokeniserOptions
from regard.data.tokenisers.tokeniser import Tokeniser, tokenisers_in
from regard.decoding.options import DecodingOptions
from regard.decoding.output import NO_NUMBERS, Hypothesis
from regard.engines.fast import TextChoice
from regard.engines.onnx.sessions import open_graph, run_checked
from regard.engines.onnx.text_exports import open_text_export
from regard.engines.plain_beam import Best, plain_beam
from regard.engines.plain_sampling import Heard, plain_sample
from regard.models.gpt.options import GPTOptions
from regard.tasks.language.lines import decode_lines, encode_lines, room_after

WRITER = "writer.onnx"
_SCORES = "log_probabilities"
_NEVER = -1  # an end that no text has


class WritingTask(NamedTuple):
    """A prompt to continue by at most `limit` tokens; errors name it by its number."""

    number: int
    prompt: Sequence[int]
    limit: int
    search: DecodingOptions
    past_end: bool = False


class OnnxWriter:
    """An export that continues prompts."""

    name: Literal["onnx"] = "onnx"

    def __init__(self, graph: Any, tokeniser: Tokeniser, options: GPTOptions, decoding: DecodingOptions) -> None:
        self.tokeniser, self.options = tokeniser, options
        self.decoding = decoding  # the search set in the model's recipe
        self.graph = graph

    @property
    def end(self) -> int:
        return self.tokeniser.end

    def encode(self, prompt: str) -> list[int]:
        return encode_lines(self.tokeniser, prompt)

    def write(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens; an end token becomes a line break."""
        return decode_lines(self.tokeniser, tokens)

    def forgotten(self, tokens: int) -> int:
        """Return how many tokens of a text are forgotten after reading `tokens` after an end token."""
        return max(0, self.options.forgotten(tokens + 1) - 1)

    def limit(self, number: int, prompt: Sequence[int], most: int, forgets: bool) -> int:
        """Return how many of `most` tokens may follow a prompt, which is refused by its number if it is too long."""
        return most if forgets else min(most, room_after(len(prompt), self.options.context, number) - 1)

    def sample(self, task: "WritingTask", key: tuple[int, int], heard: Heard | None = None) -> Hypothesis:
        """Return a sample; `key` has the line and the number of the sample."""
        text, end, sampling = _Text(self, task), self._end_of(task), task.search.sampling
        return plain_sample(lambda token: text.read([token])[0], text.last, task.limit, end, sampling, key, heard)

    def search(self, task: "WritingTask", heard: Heard | None = None) -> list[Hypothesis]:
        """Return the best continuations, best first; with a beam of one, `heard` gets each token as it is written."""
        text, end = _Text(self, task), self._end_of(task)

        def step(tokens: Sequence[int], origins: Sequence[int], count: int) -> Best:
            best = _best(text.read(tokens, origins), count)
            token = int(best.tokens[0, 0])
            if heard is not None and token != end:
                heard(token, float(best.values[0, 0]))
            return best

        found = plain_beam(step, task.limit, text.last, end, task.search, must_end=False)
        return [Hypothesis(output.tokens, output.scores, output.score(task.search)) for output in found]

    def _end_of(self, task: "WritingTask") -> int:
        return _NEVER if task.past_end else self.end


def load_writer(folder: Path, choice: TextChoice = "auto") -> OnnxWriter | None:
    """Load the export of a language model; None for torch, for auto without an export, and for other models."""
    export = open_text_export(folder, choice, ("language",))
    if export is None:
        return None
    tokens: TextTokeniserOptions = export.options(TextTokeniserOptions, "data", "tokeniser")
    tokeniser = tokenisers_in(export.files, tokens.full())[0]
    options: GPTOptions = export.options(GPTOptions, "model")
    decoding: DecodingOptions = export.options(DecodingOptions, "decoding")
    return OnnxWriter(open_graph(export.folder / WRITER), tokeniser, options, decoding)


class _Text:
    """A text being written, in one row or several: its caches, and the tokens in them.

    A prompt is read except for its last token, which the search reads first, as `last`.
    """

    def __init__(self, writer: OnnxWriter, task: WritingTask) -> None:
        self._graph, self._context, self._number = writer.graph, writer.options.context, task.number
        shapes = {tensor.name: tensor.shape for tensor in self._graph.get_inputs() if tensor.name.startswith("past.")}
        self._empty = {name: np.zeros([1, shape[1], 0, shape[3]], np.float32) for name, shape in shapes.items()}
        self._wanted = [_SCORES, *(name.replace("past", "present", 1) for name in shapes)]
        self._past, self._tokens = self._empty, np.zeros((1, 0), np.int64)
        *before, self.last = [writer.end, *task.prompt]  # as between any two lines
        while before:
            room = self._room()
            self._run(np.array([before[:room]]))
            before = before[room:]

    def read(self, tokens: Sequence[int], origins: Sequence[int] | None = None) -> np.ndarray:
        """Return the log-probabilities (row, token) after one more token in each row, which continues one of before."""
        if origins is not None and [*origins] != [*range(len(self._tokens))]:
            self._past = {name: table[[*origins]] for name, table in self._past.items()}
            self._tokens = self._tokens[[*origins]]
        self._room()
        scores: np.ndarray = self._run(np.array(tokens)[:, None])[:, -1]
        if np.isnan(scores).any():
            raise TextFault(self._number, NO_NUMBERS)
        return scores

    def _room(self) -> int:
        """Return how many tokens fit into the context; if it is full, forget its older half and read the younger."""
        if self._tokens.shape[1] == self._context:
            younger = self._tokens[:, -(self._context // 2) :]
            rows = len(younger)
            self._past = {name: np.repeat(table, rows, axis=0) for name, table in self._empty.items()}
            self._tokens = younger[:, :0]
            self._run(younger)
        return self._context - self._tokens.shape[1]

    def _run(self, tokens: np.ndarray) -> np.ndarray:
        scores: np.ndarray
        scores, *present = run_checked(self._graph, self._wanted, {"tokens": tokens, **self._past})
        self._past = dict(zip(self._past, present, strict=True))
        self._tokens = np.concatenate([self._tokens, tokens], axis=1)
        return scores


def _best(scores: np.ndarray, count: int) -> Best:
    """Return the best continuations of each row; among equals, the smaller token comes first."""
    count = min(count, scores.shape[1])
    if count == 1:
        tokens = scores.argmax(axis=1)[:, None]
    else:
        threshold = np.partition(scores, -count, axis=1)[:, -count, None]
        kept = [np.flatnonzero(row) for row in scores >= threshold]
        tokens = np.stack(
            [
                numbers[np.argsort(-row[numbers], kind="stable")[:count]]
                for row, numbers in zip(scores, kept, strict=True)
            ]
        )
    nothing = np.zeros((len(scores), 0))
    return Best(np.take_along_axis(scores, tokens, axis=1), tokens, np.zeros(len(scores)), nothing)

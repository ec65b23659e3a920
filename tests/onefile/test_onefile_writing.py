"""Writing in a one-file page: the chances, filters and texts of Python, on invented numbers."""

from typing import Any

import numpy as np
import pytest
import torch
from page_modules import run_modules

from regard.data.tokenisers.tokeniser import TokeniserOptions, train_tokeniser
from regard.decoding.chance import uniform
from regard.decoding.filters import distribution
from regard.decoding.options import SamplingOptions
from regard.decoding.sampling import draw
from regard.onefile.tokens import tokeniser_data
from regard.tasks.language.language_task import LanguageTask
from regard.verbs.generate.telling import Teller, WrittenToken

VOCABULARY = 40


def test_chances_are_those_of_python() -> None:
    keys = [
        [seed, line, number, time] for seed in (0, 1, 2**40) for line in (0, 7) for number in (0, 1) for time in (0, 9)
    ]
    found = run_modules("return given.map((keys) => uniform(...keys))", keys, sampling="uniform")
    assert found == [float(uniform(seed, *map(torch.tensor, rest))) for seed, *rest in keys]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"temperature": 0.7},
        {"temperature": 0.0},
        {"top_k": 5},
        {"top_p": 0.8},
        {"temperature": 1.4, "top_k": 12, "top_p": 0.9},
    ],
    ids=str,
)
def test_tokens_are_drawn_as_in_python(options: dict[str, Any]) -> None:
    numbers = np.random.default_rng(2)
    rows = np.round(numbers.normal(size=(60, VOCABULARY)) * 4) / 2  # some are equal
    logs = torch.tensor(rows, dtype=torch.float32).log_softmax(-1)
    logs[:, 3] = -torch.inf
    chances = [*numbers.random(58), 0.0, 1 - 2**-53]
    # As numbers that JSON can hold.
    given = {"logs": logs.double().masked_fill(logs.isinf(), -1e300).tolist(), "chances": chances, "options": options}
    body = """
    return given.logs.map((row, place) => {
      const logs = Float32Array.from(row);
      return [drawToken(logs, given.options, given.chances[place]), bestToken(logs)];
    });"""
    found = run_modules(body, given, sampling="bestToken, drawToken")
    sampling = SamplingOptions(**options)
    expected = draw(distribution(logs, sampling), torch.tensor(chances, dtype=torch.float64))
    assert [token for token, _ in found] == expected.tolist()
    assert [best for _, best in found] == [int(np.argmax(row)) for row in logs.numpy()]


class _Task(LanguageTask):
    """A language task that only reads and writes text."""

    def __init__(self, tokeniser: Any) -> None:
        self.tokeniser = tokeniser


@pytest.mark.parametrize("kind", ["bpe", "bytes", "words", "spaces"])
def test_prompts_are_read_and_told_as_in_python(kind: str) -> None:
    prompts = ["", "a b", "Ana ama\n\no mar .", "ação «fim» 🙂", "\n", 'so "good" , isn\'t it']
    options = TokeniserOptions(kind=kind, vocabulary=400)  # type: ignore[arg-type]
    task = _Task(train_tokeniser(options, ["Ana ama o mar . so good , isn't it", "a b ação fim"]))
    body = """
    const tokeniser = makeTokeniser(given.data);
    return given.prompts.map((prompt) => {
      const tokens = tokensOfPrompt(tokeniser, prompt);
      const tell = makeTeller(tokeniser, []);
      const told = tokens.map((token) => tell(token, 0));
      return { tokens, text: textOfTokens(tokeniser, tokens), told: told.map(({ token, text }) => [token, text]) };
    });"""
    given = {"data": tokeniser_data(task.tokeniser, options), "prompts": prompts}
    names = "makeTeller, textOfTokens, tokensOfPrompt"
    for prompt, found in zip(prompts, run_modules(body, given, tokeniser="makeTokeniser", writing=names), strict=True):
        (tokens,) = task.read([prompt]).tokens
        told: list[WrittenToken] = []
        Teller(task, [], told.append).finish(tokens, [0.0] * len(tokens))
        assert found["tokens"] == tokens
        assert found["text"] == task.write(tokens)
        assert found["told"] == [[token.token, token.text] for token in told]

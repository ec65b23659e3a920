"""An imported GPT-2 against transformers, in float64: scores of texts, next tokens, vectors, looks and searches.

GPT-2 has one token for the begin, the end and the pad of a text, so nothing may know one of them by its number.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from gpt2_models import SIZES, WORDS, write_gpt2

import regard
from regard.cli import main
from regard.engines.gpt2.importing import import_gpt2
from regard.seeing.prompts import see_prompt
from regard.verbs.generate.model import LanguageModel
from regard.verbs.requests.generate import PromptRequest

transformers = pytest.importorskip("transformers")

END = len(WORDS) - 1
TEXTS = ["hello world", "", "he", "wo wo\n\nhello", "é", "lo lo lo lo", ""]


class Both(NamedTuple):
    """The same GPT-2 as transformers and as regard have it."""

    theirs: Any
    ours: LanguageModel
    folder: Path


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("gpt2")
    torch.manual_seed(0)
    sizes = SIZES | {"n_positions": 48, "initializer_range": 0.4}
    theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes)).eval()
    source = write_gpt2(folder / "theirs")
    theirs.save_pretrained(source)
    import_gpt2(source, folder / "ours")
    ours = regard.load(folder / "ours", device="cpu")
    assert isinstance(ours, LanguageModel)
    ours.task.model.double()
    return Both(theirs.double(), ours, folder / "ours")


@torch.no_grad()
def their_scores(both: Both, tokens: list[int]) -> list[float]:
    """log p of each token of a text and of its end, read behind an end."""
    whole = torch.tensor([END, *tokens, END])
    logarithms = both.theirs(whole[None, :-1]).logits[0].log_softmax(-1)
    return logarithms.gather(1, whole[1:, None])[:, 0].tolist()


def test_texts_score_as_by_transformers_alone_and_in_a_batch_with_their_end(both: Both) -> None:
    together = both.ours.score(TEXTS)
    for text, found in zip(TEXTS, together, strict=True):
        expected = their_scores(both, both.ours.task.tokeniser.encode(text))
        assert found.token_scores == pytest.approx(expected, rel=1e-10)
        assert found.score == pytest.approx(sum(expected), rel=1e-10)
        assert len(found.tokens) == len(found.token_scores)
        (alone,) = both.ours.score([text])
        assert alone.token_scores == pytest.approx(expected, rel=1e-10)


def test_every_line_of_a_file_has_a_score_and_a_perplexity(
    both: Both, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["hello world", "he", "", "wo wo", "lo"]
    source = tmp_path / "lines.txt"
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert main(["evaluate", str(both.folder), "--source", str(source), "--sentences", "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["text"] for each in found] == lines
    for each in found:
        expected = their_scores(both, both.ours.task.tokeniser.encode(each["text"]))
        assert each["score"] == pytest.approx(sum(expected), rel=1e-5)  # the command counts in float32


@torch.no_grad()
def test_the_next_token_and_the_tokens_of_a_prompt_are_those_of_transformers(both: Both) -> None:
    for text in ("", "hello wo"):
        tokens = both.ours.task.tokeniser.encode(text)
        following = both.theirs(torch.tensor([[END, *tokens]])).logits[0, -1].softmax(-1)
        read = both.ours.read_prompt(PromptRequest(prompt=text, shown=5))
        best = following.sort(descending=True)
        assert [each.probability for each in read.next] == pytest.approx(best.values[:5].tolist(), rel=1e-6)
        assert [each.end for each in read.next] == [number == END for number in best.indices[:5].tolist()]
        assert read.others == len(WORDS) - 5  # the end may be written, though it is the begin and the pad too
        assert [each.score for each in read.tokens] == pytest.approx(their_scores(both, tokens)[:-1], rel=1e-10)


@torch.no_grad()
def test_vectors_of_texts_are_their_hidden_states_in_a_batch_too(both: Both) -> None:
    texts = ["hello world", "he", "wo wo wo wo wo"]
    for text, found in zip(texts, both.ours.embed(texts), strict=True):
        tokens = both.ours.task.tokeniser.encode(text)
        states = both.theirs(torch.tensor([[END, *tokens]]), output_hidden_states=True).hidden_states
        assert len(found.layers[0]) == len(tokens)
        for number, own in found.layers.items():
            if number:  # ours begin with the embedding alone, theirs with that of its place added
                torch.testing.assert_close(own, states[number][0, 1:])


@torch.no_grad()
def test_looks_are_their_attention_weights(both: Both, tmp_path: Path) -> None:
    text = "hello wo"
    tokens = both.ours.task.tokeniser.encode(text)
    both.theirs.set_attn_implementation("eager")
    expected = both.theirs(torch.tensor([[END, *tokens]]), output_attentions=True).attentions
    seen = see_prompt(both.ours, text).seen("text to text")
    assert len(seen.blocks) == len(expected)
    with regard.watching(both.ours) as gazes:
        both.ours.task.foresee(both.ours.task.read([text]))
    for gaze, theirs in zip(gazes, expected, strict=True):
        torch.testing.assert_close(torch.as_tensor(gaze.weights), theirs, check_dtype=False)


def test_a_sample_scores_as_transformers_scores_it_and_may_end_by_itself(both: Both) -> None:
    ended = set()
    for found in both.ours.generate(["he"], tokens=12, samples=200, sample={"seed": 2, "temperature": 1.5})[0]:
        written = [*both.ours.task.tokeniser.encode("he"), *(WORDS.index(each) for each in raw(found.tokens))]
        expected = their_scores(both, written)[1:]
        own = expected if found.ended == "end" else expected[:-1]
        assert found.token_scores == pytest.approx(own, abs=1e-5)
        assert found.score == pytest.approx(sum(found.token_scores))
        ended.add(found.ended)
    assert ended == {"end", "tokens"}


def raw(pieces: list[str]) -> list[str]:
    """The words of the vocabulary that are shown so."""
    shown = dict(zip(both_pieces(), WORDS, strict=True))
    return [shown[piece] for piece in pieces]


def both_pieces() -> list[str]:
    from regard.data.tokenisers.byte_pairs import BytePairTokeniser

    from gpt2_models import PAIRS

    return BytePairTokeniser(WORDS, PAIRS, END).pieces(range(len(WORDS)))

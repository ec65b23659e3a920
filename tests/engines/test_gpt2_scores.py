"""An imported GPT-2 compared with transformers in float64: scores, next tokens, vectors, attention and searches.

GPT-2 has one token for begin, end and pad, so no code may recognise one of them by its number.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import transformers
from gpt2_models import SIZES, WORDS, write_gpt2

import regard
from regard.cli import main
from regard.engines.gpt2.importing import import_gpt2
from regard.seeing.gazes import see_prompt
from regard.verbs.generate.generated import Generated
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.request import GenerateRequest, PromptRequest

END = len(WORDS) - 1
TEXTS = ["hello world", "", "he", "wo wo\n\nhello", "é", "lo lo lo lo", ""]


class Both(NamedTuple):
    """One GPT-2, in transformers and in regard."""

    theirs: Any
    ours: LanguageModel
    folder: Path


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("gpt2")
    torch.manual_seed(0)
    sizes = SIZES | {"n_positions": 48, "initializer_range": 0.4}
    theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes)).eval()
    with torch.no_grad():
        theirs.transformer.wte.weight[END] *= 2  # so that some texts end by themselves
    source = write_gpt2(folder / "theirs")
    theirs.save_pretrained(source)
    import_gpt2(source, folder / "ours")
    ours = regard.load(folder / "ours", device="cpu")
    assert isinstance(ours, LanguageModel)
    ours.task.model.double()
    return Both(theirs.double(), ours, folder / "ours")


@torch.no_grad()
def their_scores(both: Both, tokens: list[int]) -> list[float]:
    """Return log p of each token of a text and of its end, read after an end."""
    whole = torch.tensor([END, *tokens, END])
    logarithms = both.theirs(whole[None, :-1]).logits[0].log_softmax(-1)
    return logarithms.gather(1, whole[1:, None])[:, 0].tolist()


def test_texts_score_as_by_transformers_alone_and_in_a_batch_with_their_end(both: Both) -> None:
    together = both.ours.score(TEXTS)
    for text, scores in zip(TEXTS, together, strict=True):
        expected = their_scores(both, both.ours.task.tokeniser.encode(text))
        assert scores.token_scores == pytest.approx(expected, rel=1e-10)
        assert scores.score == pytest.approx(sum(expected), rel=1e-10)
        assert len(scores.tokens) == len(scores.token_scores)
        (alone,) = both.ours.score([text])
        assert alone.token_scores == pytest.approx(expected, rel=1e-10)


def test_every_line_of_a_file_has_a_score_and_a_perplexity(
    both: Both, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = ["hello world", "he", "", "wo wo", "lo"]
    source = tmp_path / "lines.txt"
    source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    assert main(["evaluate", str(both.folder), "--source", str(source), "--sentences", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["text"] for row in rows] == lines
    for row in rows:
        expected = their_scores(both, both.ours.task.tokeniser.encode(row["text"]))
        assert row["score"] == pytest.approx(sum(expected), rel=1e-5)  # the command computes in float32


@torch.no_grad()
def test_the_next_token_and_the_tokens_of_a_prompt_are_those_of_transformers(both: Both) -> None:
    for text in ("", "hello wo"):
        tokens = both.ours.task.tokeniser.encode(text)
        following = both.theirs(torch.tensor([[END, *tokens]])).logits[0, -1].softmax(-1)
        read = both.ours.read_prompt(PromptRequest(prompt=text, shown=5))
        best = following.sort(descending=True)
        assert [choice.probability for choice in read.next] == pytest.approx(best.values[:5].tolist(), rel=1e-6)
        assert [choice.end for choice in read.next] == [number == END for number in best.indices[:5].tolist()]
        assert read.others == len(WORDS) - 5  # the end may be written, though it is also the begin and the pad
        assert [token.score for token in read.tokens] == pytest.approx(their_scores(both, tokens)[:-1], rel=1e-10)


@torch.no_grad()
def test_vectors_of_texts_are_their_hidden_states_in_a_batch_too(both: Both) -> None:
    texts = ["hello world", "he", "wo wo wo wo wo"]
    for text, embedding in zip(texts, both.ours.embed(texts), strict=True):
        tokens = both.ours.task.tokeniser.encode(text)
        states = both.theirs(torch.tensor([[END, *tokens]]), output_hidden_states=True).hidden_states
        assert len(embedding.layers[0]) == len(tokens)
        for number, layer in embedding.layers.items():
            if number:  # ours begins with the embedding alone, theirs with its position added
                torch.testing.assert_close(layer, states[number][0, 1:])


@torch.no_grad()
def test_looks_are_their_attention_weights(both: Both, tmp_path: Path) -> None:
    text = "hello wo"
    tokens = both.ours.task.tokeniser.encode(text)
    both.theirs.set_attn_implementation("eager")
    expected = both.theirs(torch.tensor([[END, *tokens]]), output_attentions=True).attentions
    seen = see_prompt(both.ours.task, text).seen("text to text")
    assert len(seen.blocks) == len(expected)
    with regard.watching(both.ours) as gazes:
        both.ours.task.foresee(both.ours.task.read([text]))
    for gaze, theirs in zip(gazes, expected, strict=True):
        torch.testing.assert_close(torch.as_tensor(gaze.weights), theirs, check_dtype=False)


def numbers_of(both: Both, found: Generated) -> list[int]:
    """Return the written tokens, with the end if there is one."""
    tokeniser = both.ours.task.tokeniser
    named = {name: number for number, name in enumerate(tokeniser.pieces(range(tokeniser.size)))}
    return [*(named[name] for name in found.tokens), *([END] if found.ended == "end" else [])]


def test_a_sample_scores_as_transformers_scores_it_and_may_end_by_itself(both: Both) -> None:
    ended, read = set(), both.ours.task.tokeniser.encode("he")
    for texts in both.ours.generate(["he"], tokens=12, samples=200, sample={"seed": 2, "temperature": 1.5})[0]:
        written = numbers_of(both, texts)
        expected = their_scores(both, [*read, *written])[len(read) : -1]
        assert texts.token_scores == pytest.approx(expected, abs=1e-5)
        assert texts.score == pytest.approx(sum(texts.token_scores))
        ended.add(texts.ended)
    assert ended == {"end", "tokens"}


STOPS = {"settled": False, "first": True, "exhaustive": "never"}  # as `early_stopping` has them


@pytest.mark.one_in(3)
@torch.no_grad()
@pytest.mark.parametrize("stop", STOPS)
@pytest.mark.parametrize("tokens", [1, 2, 5, 11])
def test_beams_find_what_transformers_finds_and_are_cut_at_the_limit_of_tokens(
    both: Both, tokens: int, stop: str
) -> None:
    """All outputs of a beam with their scores; the end counts only where it is written."""
    for number, prompt in enumerate(["", "hello", "he wo", "lo lo wo", "é\n"]):
        beam, penalty = (1, 2, 3, 5)[number % 4], (0.0, 0.6, 1.0, 2.0)[(number + tokens) % 4]
        read = torch.tensor([[END, *both.ours.task.tokeniser.encode(prompt)]])
        settings = {
            "num_beams": beam,
            "num_return_sequences": beam,
            "length_penalty": penalty,
            "max_new_tokens": tokens,
        }
        if beam > 1:
            settings |= {"early_stopping": STOPS[stop], "return_dict_in_generate": True, "output_scores": True}
        marks = {"eos_token_id": END, "pad_token_id": END, "do_sample": False}
        theirs = both.theirs.generate(read, attention_mask=torch.ones_like(read), **settings, **marks)
        rows = (theirs if beam == 1 else theirs.sequences)[:, read.shape[1] :].tolist()
        search = {"length_penalty_kind": "average", "stop": stop}
        request = {"prompt": prompt, "tokens": tokens, "beam": beam, "n_best": beam, "length_penalty": penalty}
        (texts,) = both.ours.generate_by(GenerateRequest.read({**request, "search": search}))
        assert [numbers_of(both, text) for text in texts] == [
            row[: row.index(END) + 1] if END in row else row for row in rows
        ]
        for text in texts:
            assert text.score == pytest.approx(sum(text.token_scores) / len(text.token_scores) ** penalty)
        if beam > 1:
            assert [text.score for text in texts] == pytest.approx(theirs.sequences_scores.tolist(), abs=1e-4)

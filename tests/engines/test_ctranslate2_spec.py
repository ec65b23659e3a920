"""CTranslate2 computes the same as our Transformer, option by option, and refuses the rest by name."""

from pathlib import Path
from typing import Any

import ctranslate2
import pytest
import torch
from spared import spare
from untrained_export import SIZES, opened, translation

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.data.tokenisers.words import WordTokeniser
from regard.engines.ctranslate2.export import token_names
from regard.engines.ctranslate2.spec import check_expressible
from regard.models.transformer.options import TransformerOptions
from regard.tasks.translation.forcing import force_batch, forced_distributions
from regard.tasks.translation.task import Translation

TEXTS = ["I love books.", "Olá, mundo!", "Кошка"]
OUTPUTS = ["Eu amo livros.", "Hi", "A longer output than its input was."]


def forced_by_us(task: Translation) -> list[torch.Tensor]:
    outputs = task.target.encode_all(OUTPUTS)
    distributions = forced_distributions(task, force_batch(task, TEXTS, outputs))
    return [
        row.gather(1, torch.tensor([*tokens, task.end])[:, None]).squeeze(1)
        for row, tokens in zip(distributions, outputs, strict=True)
    ]


def forced_by_them(task: Translation, translator: ctranslate2.Translator) -> list[torch.Tensor]:
    pieces = [[task.source.pieces(task.source.encode(text)) for text in texts] for texts in (TEXTS, OUTPUTS)]
    return [torch.tensor(result.log_probs) for result in translator.score_batch(*pieces)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "options",
    [
        {"norm": "before"},
        {"norm": "after"},
        {"positions": "learned"},
        {"positions": "none"},
        {"positions": "rotary"},
        {"positions": "rotary", "key_value_heads": 2, "decoder_heads": 2},
        {"score": "dot"},
        {"key_value_heads": 2},
        {"key_value_heads": 1},
        {"shared_key_value": True},
        {"shared_key_value": True, "key_value_heads": 2, "positions": "rotary"},
        {"activation": "gelu"},
        {"activation": "swish"},
        {"tied": False},
        {"shared_embeddings": False},
        {"output_bias": True},
        {"decoder_heads": 2, "decoder_feed_forward": 40},
        {"preset": "tiny", "dropout": 0.5, "attention_dropout": 0.5, "feed_forward_dropout": 0.5},
    ],
    ids=str,
)
def test_every_token_has_the_same_probability(options: dict[str, Any], tmp_path: Path) -> None:
    task = translation(**options)
    theirs = forced_by_them(task, opened(task, tmp_path))
    for distribution, other in zip(forced_by_us(task), theirs, strict=True):
        torch.testing.assert_close(distribution, other, rtol=1e-5, atol=2e-5)


@pytest.mark.parametrize(
    ("name", "value", "able"),
    [
        ("positions", "alibi", "'sinusoidal', 'learned', 'rotary', 'none'"),
        ("score", "additive", "'scaled-dot', 'dot'"),
        ("score", "bilinear", "'scaled-dot', 'dot'"),
        ("join", "averaged", "'concatenated'"),
    ],
)
def test_what_cannot_be_computed_is_refused_by_name(name: str, value: str, able: str) -> None:
    with pytest.raises(Fault) as caught:
        check_expressible(check(TransformerOptions, SIZES | {name: value}))
    assert str(caught.value) == f"CTranslate2 cannot compute model.{name} = '{value}'; it supports {able}."


def test_an_option_that_nobody_thought_of_here_is_refused_unless_it_is_as_ever() -> None:
    class Newer(TransformerOptions):
        sandwich: bool = False

    check_expressible(check(Newer, SIZES))
    with pytest.raises(Fault, match=r"cannot compute model.sandwich = True; it supports False\."):
        check_expressible(check(Newer, SIZES | {"sandwich": True}))


@pytest.mark.parametrize("quantisation", ["int8", "int16", "float16", "bfloat16"])
def test_fewer_bits_change_a_little_and_make_a_smaller_file(quantisation: str, tmp_path: Path) -> None:
    ctranslate2.set_log_level(40)
    task, places = translation(), [tmp_path / "whole", tmp_path / "less"]
    spare(task.model)
    for place in places:
        place.mkdir()
    whole, less = opened(task, places[0]), opened(task, places[1], quantisation)
    sizes = [(place / "model.bin").stat().st_size for place in places]
    assert sizes[1] < 0.75 * sizes[0]
    for distribution, other in zip(forced_by_them(task, whole), forced_by_them(task, less), strict=True):
        assert 0 < (distribution - other).abs().max() < 0.5


def test_tokens_are_named_by_their_pieces_where_these_are_names() -> None:
    words = WordTokeniser(["book", "livro"])
    assert token_names(words, words) == (["<pad>", "<unk>", "<s>", "</s>", "book", "livro"],) * 2
    assert token_names(words, ByteTokeniser())[1][4 + ord("a")] == "a"
    unbroken = WordTokeniser(["\u00a0"])  # does not split names: only spaces and line ends that CTranslate2 knows do
    assert token_names(unbroken, unbroken)[0][4] == "\u00a0"


@pytest.mark.parametrize("words", [["ice cream"], [""], ["</s>"]])
def test_tokens_are_named_by_their_numbers_where_pieces_are_no_names(words: list[str]) -> None:
    plain, odd = WordTokeniser(["book"]), WordTokeniser(words)
    assert token_names(plain, odd) == (["0", "<unk>", "2", "</s>", "4"],) * 2

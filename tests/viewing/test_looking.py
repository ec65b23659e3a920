"""From gazes to words: the axes, and models with much attention, little, or none."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from regard.attention.watch import Gaze, Gazes
from regard.base.faults import Fault
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.seeing.gazes import Sight
from regard.tasks.translation.batches import PairBatch
from regard.tasks.translation.task import Translation
from regard.viewing.sides import Side

BYTES = ByteTokeniser()


def gaze(where: str, side: tuple[str, str], heads: int, queries: int, keys: int) -> Gaze:
    weights = torch.rand(1, heads, queries, keys, generator=torch.Generator().manual_seed(heads))
    return Gaze(where, *side, weights / weights.sum(-1, keepdim=True))


class Speller(ByteTokeniser):
    """Tokeniser that spells letter by letter."""

    spells = True


def sight(text: str, output: str, *gazes: Gaze, tokeniser: ByteTokeniser = BYTES) -> Sight:
    written = tokeniser.encode(output)
    return Sight(text, output, [written], sides_of(text, written, tokeniser), Gazes(gazes))


def sides_of(text: str, written: list[int], tokeniser: ByteTokeniser = BYTES) -> dict[str, Side]:
    """Return the sides from the task itself, which needs no network for that."""
    parts: dict[str, Any] = {"source_for": lambda text: tokeniser, "target_for": lambda text: tokeniser}
    parts |= {"source": tokeniser, "begin": tokeniser.begin, "end": tokeniser.end}
    network = SimpleNamespace(turns_of=lambda source, lengths: {})
    task: Any = SimpleNamespace(**parts, model=network, known=None)
    source, target = (torch.tensor([[*tokens, tokeniser.end]]) for tokens in (tokeniser.encode(text), written))
    source_length, target_length = (torch.tensor([side.shape[1]]) for side in (source, target))
    batch = PairBatch.of(source, source_length, target, target_length, tokeniser.begin)
    return Translation.sides(task, batch, [written])


def labels(text: str) -> list[str]:
    length = len(BYTES.encode(text)) + 1
    return sight(text, "", gaze("encoder", ("source", "source"), 1, length, length)).seen("encoder").columns


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I see.", ["I", "see", "."]),
        ("Ana doesn't see (it) …", ["Ana", "doesn't", "see", "(", "it", ")", "…"]),
        ("guarda-chuva, não?!", ["guarda-chuva", ",", "não", "?!"]),
        ("Я вижу дом.", ["Я", "вижу", "дом", "."]),
        ("أرى البيت؟", ["أرى", "البيت", "؟"]),
        ("我看见iPhone，好。", ["我", "看", "见", "iPhone", "，", "好", "。"]),  # no spaces: each token by itself
        ("👩‍🚀 é", ["👩‍🚀", "é"]),
        ("a  b", ["a", "b"]),  # nothing stands between two spaces
    ],
)
def test_words_stand_whole_and_punctuation_beside_them(text: str, words: list[str]) -> None:
    assert labels(text) == [*words, "</s>"]


def test_bytes_that_are_no_character_are_shown_as_such() -> None:
    written = [4 + 0xE4, 4 + ord("b")]
    look = gaze("cross", ("target", "source"), 1, 3, 2)
    seen = Sight("a", "", [written], sides_of("a", written), Gazes([look])).seen()
    assert seen.rows == ["\ufffdb", "</s>"]


def test_weights_are_summed_over_what_is_looked_at_and_averaged_over_what_looks() -> None:
    tokens = torch.tensor([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4], [0.0, 0.0, 1.0]])  # of "ab" and </s> on both axes
    seen = sight("ab", "ab", Gaze("look", "target", "source", tokens[None, None])).seen()
    assert seen.rows == seen.columns == ["ab", "</s>"]
    assert seen.blocks[0].weights[0].ravel().tolist() == pytest.approx([0.45, 0.55, 0.0, 1.0])


def test_tokens_are_shown_as_they_are() -> None:
    plain = sight("ab", "b", look := gaze("look", ("target", "source"), 2, 2, 3))
    seen = plain.seen(by_word=False)
    assert (seen.rows, seen.columns) == (["b", "</s>"], ["a", "b", "</s>"])
    assert torch.equal(torch.from_numpy(seen.blocks[0].weights).float(), look.weights[0])


def test_a_word_that_is_read_by_its_letters_is_shown_by_them() -> None:
    """A single column for a whole word would show nothing when spelling becomes sounds."""
    looks = gaze("look", ("target", "source"), 1, 4, 3)
    seen = sight("ab", "c d", looks, tokeniser=Speller()).seen()
    assert seen.columns == ["a", "b", "</s>"]
    assert seen.rows == ["c", "d", "</s>"]  # these are two words


def test_a_decoder_is_named_by_what_it_reads() -> None:
    seen = sight("a", "bc", gaze("decoder", ("target", "target"), 1, 3, 3)).seen("decoder", by_word=False)
    assert seen.rows == seen.columns == ["<s>", "b", "c"]


def test_blocks_may_differ_in_their_heads_and_keep_their_names() -> None:
    cross = ("target", "source")
    both = sight("a", "b", gaze("decoder.0.cross.look", cross, 1, 2, 2), gaze("decoder.1.cross.look", cross, 4, 2, 2))
    seen = both.seen()
    assert [block.where for block in seen.blocks] == ["decoder.0.cross.look", "decoder.1.cross.look"]
    assert seen.heads == [1, 4]


def test_a_recurrent_model_has_one_side_and_says_so_of_the_others() -> None:
    recurrent = sight("a", "b", gaze("decoder.look", ("target", "source"), 1, 2, 2))
    assert recurrent.looks == ["cross"]
    assert [seen.side for seen in recurrent.every()] == ["cross"]
    assert recurrent.seen().one().title == "cross"
    with pytest.raises(Fault, match="no attention from the source to the source; it can show --side cross"):
        recurrent.seen("encoder")


def test_a_model_without_cross_attention_names_what_it_can_show() -> None:
    without = sight("a", "b", gaze("e", ("source", "source"), 1, 2, 2), gaze("d", ("target", "target"), 1, 2, 2))
    with pytest.raises(Fault, match="from the target to the source; it can show --side encoder or --side decoder"):
        without.seen()


@pytest.mark.parametrize("ask", [lambda blind: blind.seen(), lambda blind: blind.every()])
def test_a_model_without_attention_can_show_nothing(ask: Any) -> None:
    with pytest.raises(Fault, match="This model has no attention, so there is nothing to look at"):
        ask(sight("a", "b"))

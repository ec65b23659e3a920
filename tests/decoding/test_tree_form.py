"""Outputs that are trees by construction: laws on random models, and rows by hand."""

import random

import pytest
import torch
from tables import Table

from regard.base.faults import Fault
from regard.data.tokenisers.symbols import SILENT, UNKNOWN
from regard.data.trees.linear import read_line
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.decoding.output import Demands
from regard.decoding.rules import Rules
from regard.decoding.tree_form import TreeForm, brackets_of

PIECES = ["<pad>", "<unk>", "<s>", "</s>", "(S", ")S", "(NP", ")NP", "DT", "NN", ".", "(LONE", ")"]
END = 3
BRACKETS = brackets_of(PIECES, [*SILENT, UNKNOWN])


def named(tokens: list[int] | set[int]) -> set[str]:
    return {PIECES[token] for token in tokens}


def may_follow(line: str, words: int, limit: int = 100) -> set[str]:
    tokens = torch.tensor([[PIECES.index(piece) for piece in line.split()]], dtype=torch.long)
    form = TreeForm(BRACKETS, [words], END)
    mask = form.mask(tokens, torch.tensor([0]), torch.tensor([limit]), len(PIECES))
    return named(mask[0].nonzero().flatten().tolist())


def test_brackets_without_their_twin_and_silent_tokens_have_no_role() -> None:
    assert BRACKETS.opening == {4: "S", 6: "NP"}
    assert BRACKETS.closing == {"S": 5, "NP": 7}
    assert named(BRACKETS.leaves) == {"DT", "NN", "."}


@pytest.mark.parametrize(
    ("line", "words", "allowed"),
    [
        ("", 2, {"(S", "(NP"}),
        ("(S", 2, {"(S", "(NP", "DT", "NN", "."}),  # a phrase holds something
        ("(S DT", 2, {"(S", "(NP", "DT", "NN", "."}),  # the root stays open while words are left
        ("(S (NP DT", 2, {"(S", "(NP", "DT", "NN", ".", ")NP"}),
        ("(S (NP DT NN", 2, {")NP"}),
        ("(S (NP DT NN )NP", 2, {")S"}),
        ("(S (NP DT NN )NP )S", 2, {"</s>"}),
    ],
)
def test_what_may_follow(line: str, words: int, allowed: set[str]) -> None:
    assert may_follow(line, words) == allowed


def test_room_is_kept_for_words_and_brackets() -> None:
    # After (S two words, a bracket and the end are needed; another phrase needs two brackets more.
    assert may_follow("(S", 2, limit=5) == {"DT", "NN", "."}
    assert may_follow("(S", 2, limit=6) == {"DT", "NN", "."}
    assert may_follow("(S", 2, limit=7) == {"DT", "NN", ".", "(S", "(NP"}


@pytest.mark.parametrize(
    ("line", "words", "limit"),
    [("DT", 1, 100), (")S", 1, 100), ("(S DT )S NN", 1, 100), ("(S <unk>", 1, 100), ("(S (S (S", 3, 4)],
)
def test_anything_may_follow_what_is_no_tree_or_has_no_room(line: str, words: int, limit: int) -> None:
    assert may_follow(line, words, limit) == set(PIECES)


@pytest.mark.parametrize("beam", [1, 4])
def test_every_output_of_a_search_is_a_tree_over_its_words(beam: int) -> None:
    dice = random.Random(3)
    generator = torch.Generator().manual_seed(5)
    for _ in range(20):
        words = [dice.randint(1, 6) for _ in range(3)]
        limits = torch.tensor([count + 3 + dice.randint(0, 12) for count in words])
        logits = 2 * torch.randn(3, 4, len(PIECES), len(PIECES), generator=generator, dtype=torch.float64)
        task = Table(logits.log_softmax(-1), begin=2, end=END)
        options = DecodingOptions(beam=beam, n_best=beam, form="tree")
        demands = Demands(form=TreeForm(BRACKETS, words, END))
        outputs = beam_search(task, torch.arange(3), limits, options, demands)
        for count, limit, hypotheses in zip(words, limits.tolist(), outputs, strict=True):
            for hypothesis in hypotheses:
                line = " ".join(PIECES[token] for token in hypothesis.tokens)
                assert len(list(read_line(line).leaves())) == count
                assert len(hypothesis.tokens) < limit


def test_a_vocabulary_without_brackets_is_refused() -> None:
    with pytest.raises(Fault, match="no brackets with labels"):
        brackets_of(["<pad>", "<unk>", "<s>", "</s>", "the", "cat", "("], [*SILENT, UNKNOWN])


def test_only_translators_write_trees() -> None:
    with pytest.raises(Fault, match="Only a translator writes trees"):
        Rules(DecodingOptions(form="tree"), Demands(), END, torch.tensor([5]))

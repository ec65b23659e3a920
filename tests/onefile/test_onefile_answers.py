"""Answers of a one-file page: tags of a chain, the lexicon's numbers, spans and filled masks, as in Python."""

import random

import numpy as np
import torch
from page_modules import run_modules

from regard.data.tagging.lexicon import Lexicon, shape_of
from regard.data.tagging.spans import find_spans
from regard.models.tagging.crf import Chain
from regard.tasks.masked.ways import best_ways

TAGS = 5


def test_a_chain_finds_the_tags_and_marginals_of_python() -> None:
    torch.manual_seed(2)
    chain = Chain(TAGS)
    with torch.no_grad():
        for parameter in chain.parameters():
            parameter.normal_()
    emissions = [torch.randn(length, TAGS) for length in (1, 2, 7, 20)]
    given = {
        "chain": {name: tensor.tolist() for name, tensor in chain.named_parameters()},
        "emissions": [rows.tolist() for rows in emissions],
    }
    body = """
    return given.emissions.map((rows) => {
      const scores = rows.map((row) => Float64Array.from(row));
      return { tags: bestTags(given.chain, scores), shares: marginals(given.chain, scores) };
    });"""
    for rows, found in zip(emissions, run_modules(body, given, chain="bestTags, marginals"), strict=True):
        lengths = torch.tensor([len(rows)])
        assert found["tags"] == chain.best(rows[None], lengths)[0].tolist()
        expected = chain.marginals(rows[None], lengths)[0]
        np.testing.assert_allclose(found["shares"], expected.numpy(), atol=1e-5)


def test_words_have_the_numbers_letters_and_shapes_of_python() -> None:
    draw = random.Random(3)
    letters = "abcXYZéÉßñПриве́т0123٣½²-.'$漢ǅⅫ🙂"
    words = ["".join(draw.choices(letters, k=draw.randint(1, 12))) for _ in range(2000)]
    words += ["Rio", "USA", "iPhone", "1990s", "12", "...", "é", "x" * 40, "Straße", "ª", "中文"]
    lexicon = Lexicon(
        words=["rio", "0000s", "00", "abc", "straße"],
        letters=list("abcXYZéПри"),
        columns=[],
        tags=["O"],
        fold_case=True,
        fold_digits=True,
    )
    given = {"lexicon": lexicon.model_dump(), "words": words}
    body = """
    const { lexicon, words } = given;
    return words.map((word) => [foldedWord(lexicon, word), letterNumbers(lexicon, word), shapeOf(word)]);"""
    found = run_modules(body, given, lexicon="foldedWord, letterNumbers, shapeOf")
    for word, numbers in zip(words, found, strict=True):
        assert numbers == [lexicon.word_number(word), lexicon.spell(word), shape_of(word)], word


def test_spans_are_those_of_python() -> None:
    draw = random.Random(4)
    marks = ["O", "O", *(f"{mark}-{kind}" for mark in "BIES" for kind in ("NP", "V-P"))]
    rows = [draw.choices(marks, k=draw.randint(0, 9)) for _ in range(1000)]
    found = run_modules("return given.map(spansOf)", rows, lexicon="spansOf")
    assert found == [[list(span) for span in find_spans(row)] for row in rows]


def test_masks_are_filled_in_the_ways_of_python() -> None:
    draw = random.Random(5)
    rows = [[[(f"w{number}", draw.random()) for number in range(12)] for _ in range(masks)] for masks in (1, 1, 2, 3)]
    given = [[[{"name": name, "share": share} for name, share in mask] for mask in masks] for masks in rows]
    found = run_modules("return given.map(waysToFill)", given, reading="waysToFill")
    for masks, ways in zip(rows, found, strict=True):
        names = [[name for name, _ in mask] for mask in masks]
        expected = best_ways(names, [[share for _, share in mask] for mask in masks])
        assert [tuple(way) for way in ways] == list(expected.items())

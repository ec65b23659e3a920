"""Units that are known to matter: answers on paper for each kind of data."""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

import regard
from regard.data.algorithms.options import AlgorithmData
from regard.data.captions.options import CaptionData
from regard.data.demo.corpus import linked_pairs
from regard.data.generated.options import GeneratedShapes
from regard.data.generated.shapes import Shape, captions_of
from regard.seeing.trust.capitals import Capital
from regard.seeing.trust.copies import CopiedItem
from regard.seeing.trust.letters import Letters
from regard.seeing.trust.links import WordLinks, source_words
from regard.seeing.trust.shapes import NamedShapes, cells_of, described
from regard.seeing.trust.stories import SupportingFacts
from regard.seeing.trust.truths import truth_for
from regard.seeing.why.decision import Question
from regard.viewing.sides import Cells, Facts

RED = Shape("circle", "red", "small", 0.25, 0.25)
BLUE = Shape("circle", "blue", "large", 0.25, 0.75)


def question(names: list[str], **more: Any) -> Question:
    """Return a question about units with these names; nobody asks for its numbers."""
    inputs = torch.zeros(len(names), 1)
    return Question(names, more.pop("chosen", ""), inputs, inputs, lambda vectors: vectors.sum((1, 2)), None, **more)


def test_the_letter_of_an_output() -> None:
    asked = question([*"щетка", "</s>"], text="щетка", output="sh ch y e t k a", queries=[3])
    assert Letters().units("щетка", asked) == {1}
    assert Letters().units("щетка", replace(asked, queries=[1])) == {0}
    assert Letters().units("щетка", replace(asked, queries=[7])) is None  # the end
    assert Letters().units("щетка", replace(asked, output="sh ch")) is None
    assert Letters().units("cat", replace(asked, text="cat", output="c a t")) is None


def test_letters_after_a_mark_of_the_tokeniser() -> None:
    assert Letters().units("да", question(["▁", "д", "а"], text="да", output="d a", queries=[1])) == {2}


def test_the_capital_of_a_line() -> None:
    asked = question(["</s>", "k", "v", "R", "m", "="], text="k v R m =", chosen="r")
    assert Capital().units("k v R m =", asked) == {3}
    assert Capital().units("k v R m =", replace(asked, chosen="k")) is None
    assert Capital().units("k v r m =", replace(asked, text="k v r m =")) is None


def test_the_item_that_is_copied() -> None:
    truth = CopiedItem(AlgorithmData(algorithm="copy", bits=4))
    asked = question(["1011", "0000", "0110", "marker"], queries=[6], chosen="0110")  # the third step after these four
    assert truth.units("1011 0000 0110", asked) == {2}
    assert truth.units("1011 0000 0110", replace(asked, queries=[4], chosen="1011")) == {0}
    assert truth.units("1011 0000 0110", replace(asked, chosen="0111")) is None  # a wrong answer
    assert truth.units("1011 0000 0110", replace(asked, queries=[7])) is None
    known = list(islice(truth.decisions(), 3))
    assert [decision.place for decision in known] == [0, 1, 2]
    assert all(len(decision.item.split()) == 20 for decision in known)
    assert known == list(islice(truth.decisions(), 3))


def test_the_supporting_facts_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "qa_test.txt"
    file.write_text(
        "1 Ana took the milk.\n2 Rita slept.\n3 Ana went to the garden.\n4 Where is the milk?\tgarden\t1 3\n"
        "1 Ana slept.\n2 Where is Ana?\tbed\t1\n"
    )
    truth = SupportingFacts((str(file),))
    (known,) = truth.decisions()  # in the second story every fact is support
    facts = known.item.splitlines()[:-1]
    asked = question(facts, chosen="garden", side=Facts(facts, "Where is the milk?"))
    assert truth.units(known.item, asked) == {0, 2}
    short = replace(asked, names=facts[1:], side=Facts(facts[1:], "Where is the milk?", facts[:1]))
    assert truth.units(known.item, short) == {1}
    assert truth.units(known.item, replace(asked, chosen="kitchen")) is None
    assert truth.units("Ana left.\nWhere is Ana?", asked) is None


def test_words_of_a_caption_belong_to_their_shapes() -> None:
    caption = "a small red circle to the left of a large blue circle"
    assert caption in captions_of([RED, BLUE])
    owners = described(caption, [RED, BLUE])
    assert owners == [None, RED, RED, RED, None, None, None, None, None, BLUE, BLUE, BLUE]
    assert described("a red circle in the upper left", [RED]) == [None, RED, RED, None, None, None, None]


def test_cells_of_a_shape() -> None:
    # A small shape reaches 0.09 around its middle, which here is the middle of the first of four cells.
    assert cells_of(RED, (2, 2)) == {0}
    assert cells_of(replace(RED, row=0.5), (2, 2)) == {0, 2}
    assert cells_of(RED, (1, 1)) == {0}  # it covers less than an eighth of the picture
    # In a grid of four by four, the corners of four cells meet in the middle of the shape.
    assert cells_of(replace(BLUE, size="small"), (4, 4)) == {2, 3, 6, 7}


def test_named_shapes_of_a_generated_picture() -> None:
    truth = NamedShapes(CaptionData(features="own", side=16, shapes=GeneratedShapes(train=1, valid=2, test=20)))
    side = Cells(np.zeros((16, 16, 3)), (6, 6))
    names = [str(cell) for cell in range(36)]
    for known in truth.decisions():
        asked = question(names, output=known.output, queries=[known.place], side=side)
        units = truth.units(known.item, asked)
        assert units
        assert len(units) < 18
        assert truth.units("my.png", asked) is None
        assert truth.units(known.item, replace(asked, output="a pink circle")) is None
        assert truth.units(known.item, replace(asked, names=names[:9])) is None


def test_a_pronoun_needs_its_antecedent() -> None:
    pair = next(
        pair for pair in linked_pairs("valid", "demo-pronouns", 50) if len(pair.target_roles["antecedent"]) == 1
    )
    assert source_words(pair, 7) == {4, 8}  # o: game, it
    assert source_words(pair, 3) == {2, 3}  # ao: the, and possibly watched
    assert source_words(pair, 4) == {4}  # jogo: game
    assert source_words(pair, 99) == frozenset()


def test_word_links_are_those_of_the_tokens(trained: Path) -> None:
    truth = WordLinks(regard.load(trained).task, "demo")
    known = next(truth.decisions())
    pair = next(pair for pair in linked_pairs("test") if pair.source == known.item)
    tokens = [*truth.task.source.pieces(truth.task.source.encode(pair.source)), "</s>"]
    asked = question(tokens, text=pair.source, output=pair.target, queries=[known.place])
    units = truth.units(known.item, asked)
    word = truth.task.target.words(truth.task.target.encode(pair.target))[known.place]
    words = truth.task.source.words(truth.task.source.encode(pair.source))
    assert units
    assert {words[unit] for unit in units} == source_words(pair, word)
    assert truth.units(known.item, replace(asked, output="Outra frase.")) is None
    assert truth.units(known.item, replace(asked, text="Another sentence.")) is None


def test_data_that_nobody_made_by_rules_have_no_truth(trained: Path) -> None:
    model = regard.load(trained)
    assert truth_for(model) is None  # it read files
    other: Any = SimpleNamespace(recipe=SimpleNamespace(task="nodes"))
    assert truth_for(other) is None

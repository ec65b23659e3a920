"""Unknown output words replaced through attention: by the word the model looked at, or its translation."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.cli import main
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.data.tokenisers.spaces import SpaceTokeniser
from regard.data.tokenisers.tokeniser import CaselessTokeniser, Tokeniser
from regard.decoding.output import Hypothesis
from regard.families import check_recipe
from regard.model import Model, model_class
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.tasks.translation.task import Translation
from regard.verbs.translate.command import read_dictionary
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.plan import plan_for
from regard.verbs.translate.request import TranslateRequest
from regard.verbs.translate.unknown import replace_unknown

SOURCE = SpaceTokeniser(["loves"])
TARGET = SpaceTokeniser(["ama", "e"])
TEXT = "Zoë loves Ōkami"


class Diagonal(TranslationModel, Model):
    """Translator in which each word looks at the word in the same place."""

    def looks(self, texts: Sequence[str], outputs: Sequence[Sequence[int]]) -> Iterator[tuple[int, Tensor]]:
        for number, (text, output) in enumerate(zip(texts, outputs, strict=True)):
            yield number, torch.eye(len(output) + 1, len(text.split()) + 1)


def model(source: Tokeniser = SOURCE, target: Tokeniser = TARGET, kind: Any = Diagonal, **options: Any) -> Any:
    table = {"embedding": 6, "width": 8, **options}
    recipe = check_recipe({"family": "seq2seq", "data": {"train": "a.tsv"}, "model": table})
    torch.manual_seed(1)
    network = Seq2Seq(Seq2SeqOptions(**table), source.size, target.size, False, 0)
    return kind(Translation(network, source, target).eval(), recipe)


def replaced(translator: Any, dictionary: dict[str, str]) -> str:
    hypotheses = [[Hypothesis([1, 4, 1], [0.0] * 4, 0.0)]]
    ((wording,),) = replace_unknown(translator, [TEXT], hypotheses, dictionary)
    assert wording.target.pieces(wording.tokens) == wording.target.decode(wording.tokens).split()
    return wording.target.decode(wording.tokens)


def test_an_unknown_word_becomes_the_word_that_was_looked_at() -> None:
    assert TARGET.decode([1, 4, 1]) == "⁇ ama ⁇"
    assert replaced(model(), {}) == "Zoë ama Ōkami"
    assert replaced(model(CaselessTokeniser(SpaceTokeniser(["loves"]))), {}) == "Zoë ama Ōkami"  # as it is written


def test_a_vocabulary_without_words_is_refused(
    tmp_path: Path, trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "blank.txt").write_text("\n \n", encoding="utf-8")
    assert main(["translate", str(trained), "--text", "Ana", "--vocabulary", str(tmp_path / "blank.txt")]) == 2
    assert "blank.txt, the --vocabulary, has no words" in " ".join(capsys.readouterr().err.split())


def test_a_dictionary_says_what_it_becomes() -> None:
    assert replaced(model(), {"Zoë": "Zoé", "loves": "never"}) == "Zoé ama Ōkami"
    assert replaced(model(), {"Ōkami": "e"}) == "Zoë ama e"  # a word of the vocabulary
    with pytest.raises(Fault, match="one word for one word; for 'Zoë' it has 'Dona Zoé'"):
        replaced(model(), {"Zoë": "Dona Zoé"})


def test_real_attention_leaves_nothing_unknown() -> None:
    translator, texts = model(kind=model_class("translation")), ["x y z", "loves", "p q"]
    plain, replaced = (
        translator.translate(texts, n_best=4, sample={"seed": 1}, replace_unknown=replace) for replace in (False, True)
    )
    assert any("⁇" in text for translation in plain for text, _ in translation.n_best)
    for text, one, two in zip(texts, plain, replaced, strict=True):
        assert one.score == two.score
        for (before, _), (after, _) in zip(one.n_best, two.n_best, strict=True):
            pairs = zip(before.split(), after.split(), strict=True)
            assert all(
                replacement in text.split() if word == "⁇" else replacement == word for word, replacement in pairs
            )
        assert len(two.alignment) == len(two.text.split())


def test_other_models_are_refused() -> None:
    with pytest.raises(Fault, match="this model has other tokens"):
        replaced(model(ByteTokeniser(), ByteTokeniser()), {})
    with pytest.raises(Fault, match="This model has no attention"):
        replaced(model(decoder="bottleneck"), {})
    with pytest.raises(Fault, match="dictionary has no effect without replace_unknown"):
        model().translate([TEXT], dictionary={"a": "b"})


def test_all_doors_ask_by_the_same_request(tmp_path: Path) -> None:
    request = TranslateRequest.read({"text": TEXT, "replace_unknown": True, "dictionary": {"a": "b"}})
    plan = plan_for(request, model().recipe.decoding, lambda: "ctranslate2")
    assert (plan.engine, plan.dictionary) == ("torch", (("a", "b"),))
    with pytest.raises(Fault, match="'dictionary' has no effect without 'replace_unknown'"):
        TranslateRequest.read({"text": TEXT, "dictionary": {"a": "b"}})
    with pytest.raises(Fault, match="'forced' scores given outputs"):
        TranslateRequest.read({"text": TEXT, "forced": "a", "replace_unknown": True})
    words = tmp_path / "words.tsv"
    words.write_text("Zoë\tZoé\nZoë\tother\n", encoding="utf-8")
    assert read_dictionary(words) == {"Zoë": "Zoé"}
    words.write_text("Zoë\n", encoding="utf-8")
    with pytest.raises(Fault, match="line 1: expected a word, a tab, and its translation"):
        read_dictionary(words)

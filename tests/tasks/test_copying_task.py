"""A copying translator around its network: unknown source words in files, batches, searches and outputs."""

import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import regard
from regard.attention import watching
from regard.base.faults import Fault
from regard.base.progress import silent
from regard.data.corpora.prepare import prepare
from regard.data.tokenisers.spaces import SpaceTokeniser
from regard.data.tokenisers.tokeniser import open_to
from regard.data.tokenisers.words import WordTokeniser
from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.engines.ctranslate2.spec import check_expressible
from regard.engines.marian.export import export_marian
from regard.engines.onnx.export import export_onnx
from regard.families import check_recipe
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.models.recurrent.seq2seq_options import Seq2SeqOptions
from regard.models.transformer.network import Transformer
from regard.models.transformer.options import TransformerOptions
from regard.models.transformer.packing import serves
from regard.promises.learning import stop_after
from regard.runs.open import Run, open_run
from regard.runs.train import train
from regard.seeing.lessons.losses import sentence_loss
from regard.seeing.next_token import beam_tree, choices_along, next_choices
from regard.seeing.sentences import see
from regard.tasks.translation.copying_task import CopyingTranslation
from regard.tasks.translation.forcing import force_batch, forced_scores
from regard.tasks.translation.reserving import can_reserve
from regard.training.checkpoint import WEIGHTS
from regard.verbs.translate.folder_translator import FolderTranslator
from regard.verbs.translate.search import Constraints

ODD = "Zoë q̃ńä 東京 4,711 Ōkami-san 'tis n̈."  # combining marks that no precomposed letter contains
LINES = [f"{name} has {number} birds .\t{number} birds has {name} ." for number, name in enumerate("ABCDEFGH")]


def tiny(words: list[str]) -> CopyingTranslation:
    torch.manual_seed(4)
    tokeniser = SpaceTokeniser(words)
    options = Seq2SeqOptions(embedding=6, width=8, dropout=0.0, copies=True)
    return CopyingTranslation(Seq2Seq(options, tokeniser.size, tokeniser.size, True, 0), tokeniser).double().eval()


@pytest.mark.parametrize("tokeniser", [SpaceTokeniser(["."]), WordTokeniser(["."])])
def test_unknown_words_of_a_text_come_back_as_they_were(tokeniser: WordTokeniser) -> None:
    opened = open_to(tokeniser, ODD)
    assert len(opened.encode(ODD)) > 5
    assert opened.decode(opened.encode(ODD)) == ODD
    assert tokeniser.unknown in tokeniser.encode(ODD)  # the model itself knows them no better than before
    assert opened.pieces(opened.encode("Ōkami-san never")) == ["Ōkami-san", "<unk>"]
    assert opened.files("tokeniser") == tokeniser.files("tokeniser")
    assert tokeniser.encode("Ōkami-san") == [tokeniser.unknown]


def test_unknown_words_have_numbers_of_their_own_in_each_sentence() -> None:
    task = tiny(["a"])
    batch = task.pair_up([("x a y x", "y b"), ("y", "y")])
    assert batch.source.tolist() == [[1, 4, 1, 1, 3], [1, 3, 0, 0, 0]]  # the input
    assert batch.copies.tolist() == [[5, 4, 6, 5, 3], [5, 3, 0, 0, 0]]
    assert batch.target.tolist() == [[6, 1, 3], [5, 3, 0]]  # b can neither be written nor copied
    assert batch.inputs.tolist() == [[2, 1, 1], [2, 1, 3]]
    assert batch.further.tolist() == [[True, True], [True, False]]
    assert task.quote(batch) == "'⁇ a ⁇ ⁇' | '⁇ ⁇'"


def test_the_company_of_other_sentences_changes_nothing() -> None:
    task, pairs = tiny(["a", "b"]), [("x a", "x b"), ("p q r s b", "s r q p"), ("a", "b a")]
    together = forced_scores(task, task.pair_up(pairs))
    alone = [forced_scores(task, task.pair_up([pair]))[0] for pair in pairs]
    torch.testing.assert_close(together, torch.stack(alone))


def test_a_wide_beam_finds_the_best_of_all_outputs() -> None:
    """Three words can be written for `x y`, two of them copied: 1 + 3 + 9 outputs of up to two words, and their end."""
    task, text = tiny([]), "x y"
    writable = [task.target.unknown, 4, 5]
    every = [list(words) for size in range(3) for words in itertools.product(writable, repeat=size)]
    scores = forced_scores(task, force_batch(task, [text] * len(every), every)).tolist()
    options = DecodingOptions(beam=16, n_best=3, length_penalty=0.0, stop="exhaustive")
    (hypotheses,) = beam_search(task, task.read([text]), torch.tensor([3]), options)
    best = sorted(zip(scores, every, strict=True), reverse=True)
    silent = {task.target.pad, task.target.begin}  # an untrained model may write these too
    mine = [hypothesis for hypothesis in hypotheses if not silent & set(hypothesis.tokens)]
    assert mine
    ranked = [tokens for _, tokens in best]
    assert [ranked.index(list(hypothesis.tokens)) for hypothesis in mine] == sorted(
        ranked.index(list(e.tokens)) for e in mine
    )
    for hypothesis in mine:
        assert hypothesis.score == pytest.approx(scores[every.index(list(hypothesis.tokens))], abs=1e-5)


def recipe(folder: Path) -> Any:
    (folder / "pairs.tsv").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return check_recipe(
        {
            "family": "seq2seq",
            "data": {
                "train": str(folder / "pairs.tsv"),
                "valid": str(folder / "pairs.tsv"),
                "cleaning": {"leakage": False},
                "tokeniser": {"kind": "spaces", "vocabulary": 16, "at_least": 3},
            },
            "model": {"embedding": 6, "width": 8, "copies": True, "coverage": 0.5, "dropout": 0.2},
            "training": {
                "steps": 6,
                "batch_tokens": 16,
                "validate_every": 3,
                "save_every": 2,
                "final": "last",
                "device": "cpu",
                "validation_beam": 0,
                "optimizer": {"warmup": 2},
            },
        }
    )


def opened(folder: Path) -> Run:
    folder.mkdir(exist_ok=True)
    return open_run(recipe(folder), folder / "run", True, silent, lambda remark: None)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    from small import undrawn

    model = opened(tmp_path_factory.mktemp("copying"))
    with undrawn():
        assert train(model, []).finished
    return model


def test_what_was_prepared_tells_unknown_words_apart(run: Run) -> None:
    (batch, *_) = run.task.batches("train", 1, 0, 0)
    size = run.task.target.size
    assert (batch.copies >= size).sum(1).tolist() == [2] * batch.rows  # a name and a number
    assert (batch.target >= size).sum(1).tolist() == [2] * batch.rows
    assert batch.source.max() < size
    folder = run.folder.folder
    with pytest.raises(Fault, match="unknown source words are kept distinct for copying"):
        prepare(run.recipe.data, folder / "training" / "corpus", tells_unknown=False)


@pytest.mark.usefixtures("no_curves")
def test_resumed_is_never_stopped(run: Run, tmp_path: Path) -> None:
    assert not train(opened(tmp_path), [stop_after(3)]).finished
    assert train(opened(tmp_path), []).finished
    assert (tmp_path / "run" / WEIGHTS).read_bytes() == (run.folder.folder / WEIGHTS).read_bytes()


def test_a_loaded_model_writes_looks_and_goes_on_with_words_it_has_never_seen(run: Run) -> None:
    model = regard.load(run.folder.folder)
    text = "Żółć has ½ birds ."
    (forced,) = model.translate_as([text], ["½ Żółć"])
    assert (forced.text, forced.tokens) == ("½ Żółć", ["½", "Żółć"])
    (translation,) = model.translate([text], constraints=Constraints(prefixes=["Żółć"], required=[["½"]]))
    assert translation.text.startswith("Żółć")
    assert "½" in translation.text.split()
    (without,) = model.translate([text], constraints=Constraints(forbidden=["Żółć"]))
    assert "Żółć" not in without.text
    with pytest.raises(Fault, match="The prefix has 'Zoë', for which this model has no tokens"):
        model.translate([text], constraints=Constraints(prefixes=["Zoë"]))
    with watching(model, where="copying") as gazes:
        model.translate_as([text], ["½ Żółć"])
        model.force([text], [[model.task.end]])
    torch.testing.assert_close(gazes[0].weights.sum(-1), torch.ones(gazes[0].weights.shape[:-1]))
    seen = see(model, text, "½ Żółć").seen("copying")
    assert seen.columns == ["(vocabulary)", "Żółć", "has", "½", "birds", ".", "</s>"]
    assert seen.rows == ["½", "Żółć", "</s>"]
    folder = FolderTranslator(run.folder.folder, "torch")
    assert folder.target_tokens(["½", "birds"], text)[0] == model.task.target.size + 1
    with pytest.raises(Fault, match="'Zoë' is not a token"):
        folder.target_tokens(["Zoë"], text)


def test_what_could_be_written_has_the_words_that_could_be_copied(run: Run) -> None:
    model = regard.load(run.folder.folder)
    text = "Żółć has ½ birds ."
    choices = next_choices(model, text, prefix="Żółć", shown=99)
    assert {"Żółć", "½"} <= set(choices.tokens)
    assert (choices.before, choices.written) == (["Żółć"], "Żółć")
    written = model.task.target_for(text).encode("½ birds")
    assert [set(choice.tokens) >= {"Żółć", "½"} for choice in choices_along(model, text, written)] == [True] * 3
    assert {node.token for node in beam_tree(model, text, width=16).nodes} & {"Żółć", "½"}
    assert sentence_loss(model, text, "½ birds").tokens[0].token == "½"


def test_only_models_that_copy_write_with_one_that_copies(run: Run, tmp_path: Path) -> None:
    model = regard.load(run.folder.folder)
    text = "Żółć has ½ birds ."
    assert model.together([model]).translate([text])[0].text == model.translate([text])[0].text
    other = regard.load(run.folder.folder)
    other.task = type(
        "Plain", (), {"source": other.task.source, "target": other.task.target, "eval": lambda self: self}
    )()
    with pytest.raises(Fault, match="Some of these translators copy words of the source and others cannot"):
        model.together([other])


def test_two_vocabularies_are_refused(tmp_path: Path) -> None:
    table = recipe(tmp_path).model_dump(exclude_none=True)
    table["data"]["tokeniser"]["shared"] = False
    with pytest.raises(Fault, match=r"both sides need one vocabulary: set data\.tokeniser\.shared to true"):
        check_recipe(table)


def transformer() -> CopyingTranslation:
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "width": 32, "feed_forward": 8, "heads": 2}
    tokeniser = SpaceTokeniser(["a"])
    network = Transformer(TransformerOptions(**sizes, copies=True), tokeniser.size, tokeniser.size, True, 0)
    return CopyingTranslation(network, tokeniser).eval()


@pytest.mark.parametrize("export", [export_marian, export_onnx])
def test_other_tools_cannot_copy(export: Any, tmp_path: Path) -> None:
    model: Any = SimpleNamespace(task=transformer(), recipe=SimpleNamespace(family="transformer"))
    with pytest.raises(Fault, match=r"model\.copies = true"):
        export(model, tmp_path / "out")
    with pytest.raises(Fault, match=r"CTranslate2 cannot compute model\.copies = True; it supports False"):
        check_expressible(model.task.model.options)


def test_neither_packed_nor_captured_passes_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    task = transformer()
    assert not can_reserve(task)
    monkeypatch.setattr("regard.models.transformer.packing.available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "is_cuda", True)
    assert not serves(task.model, longest=4)
    plain = Transformer(task.model.options.model_copy(update={"copies": False}), 5, 5, True, 0)
    assert serves(plain, longest=4)

"""A decoder-only Transformer as a language model: windows of text, the end of its context, attention and vectors."""

import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from counted_language import LINES
from small import undrawn
from small_network import network_in, table_in

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.cli import main
from regard.families import check_recipe
from regard.model import make_model
from regard.runs.open import open_run
from regard.runs.train import train
from regard.seeing.gazes import see_input, see_prompt
from regard.tasks.language.batches import sentences_of
from regard.tasks.language.gradient import GradientLanguage
from regard.tasks.language.streams import NOTHING, measured_windows, training_windows
from regard.verbs.generate.model import LanguageModel
from regard.verbs.generate.request import PromptRequest

SIZES = {"layers": 2, "width": 8, "heads": 2, "context": 8, "dropout": 0.0, "attention_dropout": 0.0}


def gpt_table(folder: Path, **model: Any) -> dict[str, Any]:
    table = table_in(folder, span=None)
    del table["training"]["span"]
    return table | {"family": "gpt", "model": SIZES | model}


def gpt_in(folder: Path, **model: Any) -> Any:
    """Return an untrained model with its text, in float64."""
    recipe = check_recipe(gpt_table(folder, **model))
    prepared = GradientLanguage.prepare(recipe, folder / "prepared", silent, lambda text: None, None)
    torch.manual_seed(0)
    task = GradientLanguage.build(recipe, prepared.files())
    for parameter in task.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    task.learn_from(prepared, recipe)
    return make_model(task.double(), recipe)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a model trained for a few steps."""
    place = tmp_path_factory.mktemp("gpt")
    run = open_run(check_recipe(gpt_table(place)), place / "run", False, silent, lambda text: None)
    with undrawn():
        assert train(run, []).finished
    return place / "run"


# Windows of text


def test_windows_on_paper() -> None:
    """Seven tokens in windows of four that overlap by two: an end comes first, padding last."""
    tokens = np.array([10, 11, 12, 13, 14, 15, 16])
    first, second = measured_windows(tokens, end=3, span=4, overlap=2, rows=2)
    assert first.tokens.tolist() == [[3, 10, 11, 12], [11, 12, 13, 14]]
    assert first.wanted.tolist() == [[10, 11, 12, 13], [NOTHING, NOTHING, 14, 15]]
    assert second.tokens.tolist() == [[13, 14, 15, 16]]
    assert second.wanted.tolist() == [[NOTHING, NOTHING, 16, NOTHING]]


@pytest.mark.parametrize("count", [8, 9, 25, 31])
@pytest.mark.parametrize("overlap", [0, 3])
def test_every_token_is_measured_once(count: int, overlap: int) -> None:
    targets = [batch.wanted for batch in measured_windows(np.arange(count), 99, 8, overlap, 2)]
    assert sorted(token for part in targets for token in part.flatten().tolist() if token != NOTHING) == list(
        range(count)
    )


def test_an_epoch_has_other_windows_than_the_last_and_each_token_at_most_once() -> None:
    tokens = np.arange(100)
    epochs = [[batch.wanted for batch in training_windows(tokens, 999, 3, 8, 1, epoch, 0)] for epoch in (0, 1)]
    for batches in epochs:
        numbers = torch.cat(batches).flatten().tolist()
        assert len(numbers) == len(set(numbers)) >= 72
    assert epochs[0][0].tolist() != epochs[1][0].tolist()
    for read, target in ((window.tokens, window.wanted) for window in training_windows(tokens, 999, 3, 8, 1, 0, 0)):
        assert torch.equal(read[:, 1:], target[:, :-1])
        assert torch.equal(torch.where(target[:, 0] == 0, 999, target[:, 0] - 1), read[:, 0])


@torch.no_grad()
def test_the_loss_is_that_of_windows_read_one_by_one(tmp_path: Path) -> None:
    model = gpt_in(tmp_path, overlap=3)
    task, network = model.task, model.task.model
    tokens = [token for row in task.tokeniser.encode_all(LINES) for token in (*row, task.end)]
    nats = 0.0
    for first in range(0, len(tokens) - 3, 5):
        window = [task.end, *tokens][first : first + 8]
        target = tokens[first : first + 8]
        logits = network.logits(network.read(torch.tensor([window[: len(target)]]), network.begin(1)).states)[0]
        scores = logits.log_softmax(-1)[range(len(target)), target]
        nats -= float(scores[3 if first else 0 :].sum())
    measures = [task.measure(batch) for batch in task.batches("test", 0, 0, 0)]
    total = sum(measure["loss"].tally.sums[0] for measure in measures)
    assert total == pytest.approx(nats)
    assert task.measure(task.text_batch(task.tokeniser.encode_all(LINES)))["loss"].value == pytest.approx(
        nats / len(tokens)
    )
    assert measures[0]["loss"].signature.endswith(
        "in windows of 8 tokens, each read from nothing, 3 of them from the one before"
    )


@pytest.mark.parametrize(
    ("training", "sentence"),
    [
        ({"span": 9}, "training.span is 9, but model.context is 8; a span cannot be longer"),
        ({"vary_span": True}, "training.vary_span is for networks that carry their state"),
        ({"batch": 400}, "fewer than the 400 parts of training.batch"),
        ({"batch": 9}, "fewer than a batch of 9 rows of 8"),
    ],
)
def test_training_that_cannot_be_is_refused(training: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    table = gpt_table(tmp_path)
    recipe = check_recipe(table | {"training": table["training"] | training})
    with pytest.raises(Fault, match=sentence):
        open_run(recipe, tmp_path / "run", False, silent, lambda text: None)


# The end of the context


def test_a_text_stops_where_the_context_is_full_and_says_so(tmp_path: Path) -> None:
    """It reads an end and two words. Five of eight places are left, and the last token is never read."""
    model = gpt_in(tmp_path)
    ((generated,),) = model.generate_by(request(prompt=["the cat"], tokens=50, past_end=True))
    assert (len(generated.tokens), generated.ended, generated.forgotten) == (5, "context", 0)
    assert generated.remark is not None
    assert "The context was full after 5 tokens, so the text stops there" in generated.remark
    ((generated,),) = model.generate_by(request(prompt=["the cat"], tokens=3, past_end=True))
    assert (len(generated.tokens), generated.ended, generated.remark) == (3, "tokens", None)


def test_or_the_older_half_is_forgotten_which_is_said_too(tmp_path: Path) -> None:
    model = gpt_in(tmp_path)
    request_table = {"prompt": ["the cat"], "tokens": 12, "past_end": True}
    ((generated,),) = model.generate_by(request(**request_table, when_full="forget"))
    assert (len(generated.tokens), generated.ended, generated.forgotten) == (12, "tokens", 7)
    assert generated.remark == "The context was full, so the first 7 tokens of the text were forgotten."
    by_recipe = gpt_in(tmp_path, when_full="forget")
    assert next(by_recipe.generate_by(request(**request_table)))[0].text == generated.text
    long = " ".join(["the"] * 30)
    ((generated,),) = model.generate_by(request(prompt=[long], tokens=2, when_full="forget"))
    assert generated.forgotten > 20


def request(**given: Any) -> Any:
    from regard.verbs.generate.request import GenerateRequest

    return GenerateRequest.read(given)


def test_a_prompt_longer_than_the_context_is_refused_and_an_empty_one_is_not(tmp_path: Path) -> None:
    model = gpt_in(tmp_path)
    with pytest.raises(Fault, match="the prompt has 7 tokens, but a context of 8 leaves room for 6; shorten it"):
        model.generate(["the " * 7])
    ((generated,),) = model.generate([""], tokens=3)
    assert generated.prompt == ""
    with pytest.raises(Fault, match="There is no text to look at; give a prompt"):
        see_prompt(model.task, " ")
    with pytest.raises(Fault, match="it has 8 tokens, but the context has room for 7; shorten it"):
        see_prompt(model.task, "the " * 8)
    with pytest.raises(Fault, match="it has 8 tokens, but the context has room for 7; shorten it"):
        model.embed(["the " * 8])


def test_a_longer_text_is_scored_only_by_a_model_that_forgets(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="Text 2: it has 8 tokens, but the context has room for 7; shorten it"):
        gpt_in(tmp_path).score(["the", "the " * 8])
    assert len(gpt_in(tmp_path, when_full="forget").score(["the " * 30])[0].token_scores) == 31


def test_what_is_written_scores_as_the_text_does(tmp_path: Path) -> None:
    task = gpt_in(tmp_path).task
    rows = [task.tokeniser.encode(text) for text in ("the cat sat", "a dog", "")]
    scores = task.token_scores(sentences_of(rows, task.begin, task.end))
    place = 0
    for row in rows:
        state, last = task.start(task.read([""])), task.begin
        for token in [*row, task.end]:
            log_probabilities, state = task.step(torch.tensor([last]), state)
            assert log_probabilities[0, token].item() == pytest.approx(scores[place], abs=1e-5)
            last, place = token, place + 1


# Attention, heads and vectors


def test_a_speaker_is_refused_where_nobody_speaks(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="The speaker 'Ana' is for models that speak; this one does not"):
        see_input(gpt_in(tmp_path).task, "the cat", "Ana")


def test_it_is_looked_at_word_by_word_and_looks_back_alone(tmp_path: Path) -> None:
    model = gpt_in(tmp_path)
    sight = see_prompt(model.task, "the cat sat")
    seen = sight.seen("text to text")
    assert seen.rows == seen.columns == ["</s>", "the", "cat", "sat"]
    assert len(seen.blocks) == 2
    for block in seen.blocks:
        assert (np.triu(block.weights, 1) == 0).all()
        np.testing.assert_allclose(block.weights.sum(-1), 1)
    log_probabilities = model.task.foresee(model.task.read(["the cat sat"]))[0]
    stepped, _ = model.task.step(torch.tensor([model.task.begin]), model.task.start(model.task.read(["the cat sat"])))
    torch.testing.assert_close(log_probabilities.float(), stepped[0])
    assert f"{100 * math.exp(log_probabilities.max()):.0f}" in sight.output


def test_its_vectors_are_those_of_its_layers_and_know_what_stands_before_them(tmp_path: Path) -> None:
    model = gpt_in(tmp_path)
    one, other = model.embed(["the cat sat", "a cat"])
    assert list(one.layers) == [0, 1, 2]
    torch.testing.assert_close(one.layers[0][1], other.layers[0][1])
    assert not torch.allclose(one.layers[2][1], other.layers[2][1])
    torch.testing.assert_close(model.embed(["a cat"])[0].layers[2], other.layers[2])


# Command line, Python and server


def test_the_commands_go_on_look_and_report(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ran = ["generate", str(folder), "--prompt", "the cat", "--tokens", "20", "--past-end", "--json"]
    assert main(ran) == 0
    out, message = capsys.readouterr()
    assert json.loads(out)["ended"] == "context"
    assert "The context was full after 5 tokens" in message
    assert main([*ran, "--when-full", "forget"]) == 0
    assert json.loads(capsys.readouterr().out)["forgotten"] > 0
    assert main(["look", str(folder), "the cat sat", "-o", str(folder.parent / "look.json")]) == 0
    assert json.loads((folder.parent / "look.json").read_text(encoding="utf-8"))["side"] == "text to text"
    assert main(["look", str(folder), "the cat", "--next"]) == 0
    capsys.readouterr()
    assert main(["heads", str(folder), "--json"]) == 0
    heads = json.loads(capsys.readouterr().out)["heads"]
    assert {(head["block"], head["head"]) for head in heads} == {(1, 1), (1, 2), (2, 1), (2, 2)}
    assert main(["generate", str(folder), "--prompt", "the " * 9]) == 2
    assert "the prompt has 9 tokens" in capsys.readouterr().err


def test_a_terminal_hears_a_text_while_it_is_written(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = ["generate", str(folder), "--prompt", "the cat", "--tokens", "4", "--past-end"]
    assert main(ran) == 0
    whole = capsys.readouterr().out
    outputs: list[str] = []

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def flush(self) -> None:
            outputs.append(self.getvalue())

    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    assert main(ran) == 0
    assert terminal.getvalue() == whole
    assert len(dict.fromkeys(outputs)) > 3


def test_a_model_without_a_context_never_fills(tmp_path: Path) -> None:
    model = LanguageModel(network_in(tmp_path), check_recipe(table_in(tmp_path)))
    with pytest.raises(Fault, match="when_full is for models with a limited context; this one has none"):
        next(model.generate_by(request(when_full="forget")))


def test_a_prompt_says_how_much_room_its_context_has_and_what_was_forgotten(tmp_path: Path) -> None:
    model = gpt_in(tmp_path)
    read = model.read_prompt(PromptRequest(prompt="the cat sat"))
    assert (read.room, read.forgotten) == (4, 0)  # of eight one is the end before it
    ((generated,),) = model.generate(["the cat sat"], tokens=50, sample={"seed": 1})
    assert len(generated.tokens) <= 4
    with pytest.raises(Fault, match="the prompt has 9 tokens, but a context of 8 leaves room for 6"):
        model.read_prompt(PromptRequest(prompt="the cat " * 4 + "sat"))
    read = model.read_prompt(PromptRequest(prompt="the cat " * 4 + "sat", when_full="forget"))
    assert read.room is None
    assert read.forgotten > 0
    assert len(read.tokens) == 9

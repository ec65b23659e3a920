"""Next tokens of a prompt: a language model's distribution, and the output vectors nearest to its state."""

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "language"))
from counted_language import counted_in, recipe_in
from small_network import network_in, table_in

from regard.base.faults import Fault
from regard.cli import main
from regard.families import check_recipe
from regard.seeing.looking import view_prompt
from regard.seeing.next_token import prompt_choices
from regard.verbs.generate.model import LanguageModel


@pytest.fixture
def network(tmp_path: Path) -> LanguageModel:
    return LanguageModel(network_in(tmp_path), check_recipe(table_in(tmp_path)))


@pytest.fixture
def counts(tmp_path: Path) -> LanguageModel:
    return LanguageModel(counted_in(tmp_path), recipe_in(tmp_path))


@pytest.mark.parametrize("kind", ["network", "counts"])
def test_the_next_token_is_that_of_a_search(kind: str, request: pytest.FixtureRequest) -> None:
    """A greedy search writes the likeliest first token, with the same score."""
    model = request.getfixturevalue(kind)
    choices = prompt_choices(model, "the cat", shown=3)
    ((best,),) = model.generate(["the cat"], tokens=1, beam=1)
    assert list(choices.before) == ["the", "cat"]
    assert (choices.written, choices.source) == ("the cat", "")
    assert choices.panels[0].probabilities.sum() == pytest.approx(1)
    if best.tokens:
        assert choices.tokens[0] == best.tokens[0]
        assert math.log(choices.panels[0].probabilities[0]) == pytest.approx(best.token_scores[0], abs=1e-5)
    assert prompt_choices(model, "the cat", {"top_k": 2}).panels[-1].kept == 2


def test_nearest_are_the_rows_of_the_output_layer_by_their_cosine(network: LanguageModel) -> None:
    """Computed by hand from the state after the prompt; tokens that are never written are left out."""
    task = network.task
    read = torch.tensor([[task.end, *task.tokeniser.encode("the cat")]])
    with torch.no_grad():
        state = task.model.read(read, task.model.begin(1)).states[0, -1].numpy()
        rows = task.model.output_vectors.numpy()
    cosines = rows @ state / np.linalg.norm(rows, axis=1) / np.linalg.norm(state)
    cosines[[task.begin, task.tokeniser.pad]] = -1
    order = np.argsort(-cosines)[:10].tolist()
    nearest = prompt_choices(network, "the cat").nearest
    assert [token for token, _ in nearest] == task.tokeniser.pieces(order)
    assert [cosine for _, cosine in nearest] == pytest.approx(cosines[order].tolist())


def test_counts_have_no_vectors(counts: LanguageModel) -> None:
    assert not prompt_choices(counts, "the cat").nearest


def test_each_kind_of_file_names_the_nearest(network: LanguageModel, tmp_path: Path) -> None:
    named = [token for token, _ in prompt_choices(network, "the cat").nearest]
    for name in ("next.json", "next.svg", "next.html"):
        view_prompt(network, "the cat", {}, 4).save(tmp_path / name)
    report = json.loads((tmp_path / "next.json").read_text(encoding="utf-8"))
    assert [token["token"] for token in report["nearest"]] == named
    assert report["text"] == "the cat"
    assert "Output vectors nearest to the state" in (tmp_path / "next.svg").read_text(encoding="utf-8")
    assert '"nearest"' in (tmp_path / "next.html").read_text(encoding="utf-8")
    text = repr(view_prompt(network, "", {}, 4))
    assert "At the beginning" in text
    assert "Output vectors nearest to the state, by cosine: " in text


@pytest.mark.usefixtures("no_curves")
def test_the_whole_way_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Train, score, continue and look; options about attention are refused."""
    table, run = table_in(tmp_path), str(tmp_path / "run")
    lines = [f'family = "{table["family"]}"']
    for name in ("data", "model", "training"):
        lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table[name].items())]
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("\n".join(lines), encoding="utf-8")
    assert main(["train", str(recipe), "--out", run]) == 0
    capsys.readouterr()
    assert main(["evaluate", run, "--json"]) == 0
    scores = {score["metric"]: score for score in json.loads(capsys.readouterr().out)["scores"]}
    assert main(["evaluate", run, "--source", table["data"]["test"], "--json"]) == 0
    again = {score["metric"]: score["value"] for score in json.loads(capsys.readouterr().out)["scores"]}
    assert again == {name: pytest.approx(score["value"]) for name, score in scores.items()}
    assert "state carried from sentence to sentence, in one piece" in scores["perplexity"]["signature"]
    assert main(["generate", run, "--prompt", "walrus walrus", "--tokens", "5", "--samples", "2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["look", run, "the cat", "--next", "--bars", "3"]) == 0
    assert "the model's own" in capsys.readouterr().out
    for arguments, words in (
        (["look", run, "the cat"], "it gives text that continues a prompt; use `regard look --next` to see"),
        (["look", run, "the cat", "--next", "--at", "2"], "--at is for translators"),
        (["look", run, "--next"], "give one to look at, not none"),
    ):
        assert main(arguments) == 2
        assert words in capsys.readouterr().err


def test_options_of_sampling_are_checked(network: LanguageModel) -> None:
    with pytest.raises(Fault, match="top_k"):
        prompt_choices(network, "the cat", {"top_k": -1})

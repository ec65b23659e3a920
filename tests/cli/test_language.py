"""Language models on the command line: counted, scored, continued, and exported to and imported from ARPA."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "language"))
from counted_language import write_recipe

from regard import load
from regard.cli import main
from regard.tasks.language import counting

KENLM = Path(__file__).parents[1] / "models" / "ngram" / "made_by_kenlm"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small n-gram model. Tests that change it must copy it first."""
    folder = tmp_path_factory.mktemp("language")
    assert main(["train", str(write_recipe(folder)), "--out", str(folder / "run")]) == 0
    return folder / "run"


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(arguments) == 2
    return capsys.readouterr().err


def test_it_is_scored_on_its_split_and_keeps_the_scores(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(run), "--json"]) == 0
    scores = {score["metric"]: score for score in json.loads(capsys.readouterr().out)["scores"]}
    assert scores["perplexity"]["value"] > 1
    assert scores["perplexity"]["split"] == "test"
    assert "</s> counted, unknown words as <unk>" in scores["perplexity"]["signature"]
    assert scores["unknown"]["value"] == 0
    stored_scores = json.loads((run / "scores.json").read_text())["scores"]
    assert {(score["metric"], score["split"]) for score in stored_scores} >= {
        ("perplexity", "test"),
        ("perplexity", "valid"),
    }


def test_a_file_is_scored_as_a_whole_and_by_sentences(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "new.txt"
    text.write_text("the cat sat .\n\na walrus sat .\n", encoding="utf-8")
    assert main(["evaluate", str(run), "--source", str(text), "--json"]) == 0
    whole = {score["metric"]: score["value"] for score in json.loads(capsys.readouterr().out)["scores"]}
    assert main(["evaluate", str(run), "--source", str(text), "--sentences", "--json"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["unknown"], second["unknown"]) == (0, 1)
    assert whole["unknown"] == pytest.approx(100 / 10)
    assert main(["evaluate", str(run), "--source", str(text), "--metric", "unknown", "--json"]) == 0
    assert [score["metric"] for score in json.loads(capsys.readouterr().out)["scores"]] == ["unknown"]
    assert main(["evaluate", str(run), "--source", str(text), "--sentences"]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith("\t0\tthe cat sat .")


def test_it_goes_on_with_a_prompt(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", str(run), "--prompt", "the cat", "--tokens", "3", "--samples", "4"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("the cat") for line in lines)
    assert main(["generate", str(run), "--prompt", "the", "--sample", "--top-k", "1", "--seed", "3", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"prompt", "text", "score", "tokens", "token_scores", "ended", "forgotten"}
    assert main(["generate", str(run), "--beam", "2", "--set", "n_best=2", "--tokens", "4"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_python_has_the_same(run: Path) -> None:
    model: Any = load(run)
    assert model.verbs == ["train", "evaluate", "generate", "info", "compare", "serve"]
    assert model.generate(["the"], tokens=2)[0][0].text.startswith("the")
    assert model.score(["the cat"])[0].score < 0
    *shorter, longest = [model.task.model.trie.rows(order) for order in range(1, model.task.options.order + 1)]
    assert (
        model.parameters == 2 * sum(shorter) + longest
    )  # every n-gram has a probability, and all but the longest back off


def test_it_goes_to_arpa_and_comes_back_with_the_same_scores(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arpa, imported = tmp_path / "model.arpa", tmp_path / "imported"
    assert main(["export", str(run), "--to", "arpa", "-o", str(arpa)]) == 0
    assert main(["import", "arpa", str(arpa), "-o", str(imported)]) == 0
    ours, theirs = load(run), load(imported)
    texts = ["the cat sat .", "a walrus", ""]
    assert [text.token_scores for text in theirs.score(texts)] == [text.token_scores for text in ours.score(texts)]
    assert f"{arpa} exists already" in refusal(["export", str(run), "--to", "arpa", "-o", str(arpa)], capsys)


def test_a_mapped_file_is_a_model_for_every_command(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mapped, text = tmp_path / "model.ngrams", tmp_path / "new.txt"
    text.write_text("the cat sat .\na walrus\n", encoding="utf-8")
    assert main(["export", str(run), "--to", "mapped", "-o", str(mapped)]) == 0
    capsys.readouterr()
    printed = []
    for model in (run, mapped):
        assert main(["evaluate", str(model), "--source", str(text), "--json"]) == 0
        assert main(["generate", str(model), "--prompt", "the", "--seed", "1"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    ours, theirs = load(run), load(mapped)
    assert theirs.facts() == ours.facts()
    assert f"{mapped} exists already" in refusal(["export", str(run), "--to", "mapped", "-o", str(mapped)], capsys)
    content = mapped.read_bytes()
    mapped.write_bytes(content[:-1])
    assert "is damaged: its length differs" in refusal(["evaluate", str(mapped), "--source", str(text)], capsys)
    mapped.write_bytes(content[:-1] + b"?")
    assert "differs from its head's" in refusal(["evaluate", str(mapped), "--source", str(text)], capsys)


def test_counts_beyond_a_budget_of_memory_give_the_same_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["train", str(write_recipe(tmp_path)), "--set", "model.prune=[0, 0, 1]"]
    in_files = ["--set", "training.memory=1e-9", "--set", f"training.scratch={tmp_path}"]
    assert main([*arguments, "--out", str(tmp_path / "in memory")]) == 0
    assert main([*arguments, *in_files, "--out", str(tmp_path / "in files")]) == 0
    files = [(tmp_path / name / "weights.safetensors").read_bytes() for name in ("in memory", "in files")]
    assert files[0] == files[1]
    capsys.readouterr()
    nowhere = [*arguments, "--out", str(tmp_path / "no"), "--set", "training.memory=1"]
    assert "but there is no such folder" in refusal([*nowhere, "--set", f"training.scratch={tmp_path}/none"], capsys)


def test_a_model_of_kenlm_is_brought_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    imported = tmp_path / "imported"
    assert main(["import", "arpa", str(KENLM / "trigrams.arpa"), "-o", str(imported)]) == 0
    assert main(["evaluate", str(imported), "--source", str(KENLM / "new.txt"), "--json"]) == 0
    scores = {score["metric"]: score["value"] for score in json.loads(capsys.readouterr().out)["scores"]}
    # What `query -v summary` of KenLM prints.
    assert scores["perplexity"] == pytest.approx(70.48544839655162, rel=1e-6)
    assert scores["perplexity_of_known"] == pytest.approx(29.75078570835359, rel=1e-6)
    assert "names no test data" in refusal(["evaluate", str(imported)], capsys)
    again = refusal(["train", str(imported / "recipe.toml"), "--out", str(tmp_path / "again")], capsys)
    assert "model.smoothing is 'imported', but an imported model cannot be trained" in again


def test_words_that_look_like_special_ones_survive_an_arpa_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    lines = ["a <unk> b", "<<unk>> a", "</s> <s> <c>"]
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        f'family = "ngram"\n[data]\ntrain = "{text}"\n[model]\norder = 2\nsmoothing = "add-k"\n', encoding="utf-8"
    )
    assert main(["train", str(recipe), "--out", str(tmp_path / "run")]) == 0
    assert main(["export", str(tmp_path / "run"), "--to", "arpa", "-o", str(tmp_path / "model.arpa")]) == 0
    assert "The word <unk> is written as <<unk>>" in capsys.readouterr().err
    words = {line.split("\t")[1] for line in (tmp_path / "model.arpa").read_text().splitlines()[5:15]}
    assert words == {"<unk>", "<s>", "</s>", "a", "b", "<c>", "<<unk>>", "<<<unk>>>", "<<s>>", "<</s>>"}
    assert main(["import", "arpa", str(tmp_path / "model.arpa"), "-o", str(tmp_path / "imported")]) == 0
    before, after = (load(tmp_path / name).score(lines) for name in ("run", "imported"))
    for old, new in zip(before, after, strict=True):
        assert old.token_scores == pytest.approx(new.token_scores, abs=1e-6)


def test_a_run_that_was_killed_goes_on_to_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = str(write_recipe(tmp_path))
    arguments = ["train", recipe, "--set", "training.save_every=1"]
    assert main([*arguments, "--out", str(tmp_path / "whole")]) == 0
    count, counted = counting.CountedLanguage.count, list[Any]()

    def killed(task: counting.CountedLanguage, batch: Any) -> None:
        counted.append(batch)
        if len(counted) == 3:
            raise KeyboardInterrupt
        count(task, batch)

    monkeypatch.setattr(counting.CountedLanguage, "count", killed)
    assert main([*arguments, "--out", str(tmp_path / "cut")]) == 130
    monkeypatch.setattr(counting.CountedLanguage, "count", count)
    assert main([*arguments, "--out", str(tmp_path / "cut"), "--resume"]) == 0
    for name in ("weights.safetensors", "tokeniser.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert main([*arguments, "--out", str(tmp_path / "cut"), "--resume"]) == 0  # finished, and nothing happens


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["translate", "RUN"], "An ngram gives text that continues a prompt; use `regard generate`. It can train"),
        (
            ["generate", "RUN", "--beam", "2", "--samples", "3"],
            "--beam is for beam search, but sampling draws at random",
        ),
        (["generate", "RUN", "--set", "sampling=3"], "Sampling has several options"),
        (["generate", "RUN", "--set", "beams=3"], "the search has no 'beams'"),
        (["evaluate", "RUN", "--sentences"], "--sentences is for a language model and the text of a --source"),
        (["evaluate", "RUN", "--beam", "3"], "--beam is for translators; an ngram is scored on a --split"),
        (["evaluate", "RUN", "--source", "RECIPE", "--sentences", "--metric", "unknown"], "omit --metric"),
        (["evaluate", "RUN", "--source", "RECIPE", "--metric", "bleu"], "is measured by perplexity"),
        (["evaluate", "RUN", "--metric", "bleu"], "is measured by perplexity, perplexity_of_known, unknown"),
        (["export", "RUN", "--to", "arpa"], "Name a file for the arpa model with -o"),
        (["train", "RECIPE", "--from", "RUN", "--out", "OUT"], "An n-gram model cannot start from another"),
        (["import", "arpa", "NOWHERE", "-o", "OUT"], "There is no file NOWHERE"),
    ],
)
def test_what_cannot_be_done_is_refused(
    run: Path, tmp_path: Path, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"RUN": str(run), "RECIPE": str(write_recipe(tmp_path)), "OUT": str(tmp_path / "out")}
    assert sentence in refusal([places.get(argument, argument) for argument in arguments], capsys)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["training.steps=5"], "models that learn by gradient"),
        (["model.discount_fallback=false"], "No discounts can be estimated for the"),
        (["data.longest=3"], "line 1 has 7 tokens, more than data.longest (3)"),
        (["data.tokeniser.at_least=100"], "The vocabulary has no word"),
        (["model.prune=[0, 2, 1]"], "prune is [0, 2, 1], but its numbers may not fall"),
        (["training.scratch=."], "scratch is for counts beyond training.memory, which is not given"),
    ],
)
def test_what_cannot_be_counted_is_refused(
    tmp_path: Path, settings: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [part for setting in settings for part in ("--set", setting)]
    recipe = str(write_recipe(tmp_path))
    assert sentence in refusal(["train", recipe, "--out", str(tmp_path / "run"), *options], capsys)

"""Training and scoring from Python, compared with the commands."""

import csv
import math
import pydoc
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w
import torch
from small import SETTINGS, write_corpus

import regard
from regard.api import settings_of
from regard.base.recipe import apply_settings
from regard.cli import main
from regard.hardware.devices import pick_device

pytestmark = pytest.mark.usefixtures("no_curves")
COUNTED = {"family": "ngram", "model": {"order": 2, "discount_fallback": True}}


def counted(folder: Path) -> dict:
    source, target = write_corpus(folder, 40)
    data = {"train": str(source), "valid": str(source), "test": str(target), "tokeniser": {"kind": "words"}}
    return {**COUNTED, "data": data}


def test_settings_are_those_of_the_command_line() -> None:
    settings = {"training.steps": 20, "model": {"norm": "before", "sizes": [1, 2]}, "name": 'a "b" = c', "on": True}
    expected = {
        "training": {"steps": 20},
        "model": {"norm": "before", "sizes": [1, 2]},
        "name": 'a "b" = c',
        "on": True,
    }
    assert apply_settings({}, list(settings_of(settings))) == expected
    with pytest.raises(regard.Fault, match=r"The setting model\.seed is None; omit it"):
        list(settings_of({"model": {"seed": None}}))


def test_settings_may_hold_paths_and_numbers_of_numpy_and_torch() -> None:
    settings = {"a": np.int64(3), "b": np.float32(0.5), "c": [Path("x"), torch.tensor(2)], "d": np.array([1, 2])}
    assert apply_settings({}, list(settings_of(settings))) == {"a": 3, "b": 0.5, "c": ["x", 2], "d": [1, 2]}
    with pytest.raises(regard.Fault, match=r"The setting model\.seed is <object .*, which a recipe cannot hold"):
        list(settings_of({"model.seed": object()}))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: regard.train(["demo"]), "recipe is a list, expected a name, a file or a table"),
        (lambda: regard.train("demo", ["seed=1"]), "settings are a list, expected a table such as"),
        (lambda: regard.compare("demo", {"seed": 1}), r"vary\['seed'\] is 1, expected a list"),
        (lambda: regard.compare("demo", {"seed": [1]}, metrics="bleu"), "metrics is 'bleu', expected a list"),
    ],
)
def test_arguments_of_another_type_are_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(TypeError, match=words):
        call()
    with pytest.raises(regard.Fault, match="There is no device 'None'"):
        pick_device(None)


def test_a_table_is_trained_scored_and_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    model = regard.train(counted(tmp_path), {"model.order": 3}, out=run, seed=7, quiet=True)
    assert (model.recipe.seed, model.recipe.model.order, model.folder) == (7, 3, run)
    (perplexity,) = regard.evaluate(model, metrics=["perplexity"], quiet=True)
    with pytest.raises(regard.Fault, match="There is no split 'train'; give test or valid"):
        regard.evaluate(model, "train")
    with pytest.raises(TypeError, match=r"look takes one text, not \["):
        model.look(["Eu"])
    with pytest.raises(TypeError, match=r"generate takes a list of prompts; write generate\(\[prompt\]\)"):
        model.generate("Eu")
    with pytest.raises(TypeError, match=r"score takes a list of texts"):
        model.score("Eu")
    assert (perplexity.metric, perplexity.split) == ("perplexity", "test")
    assert regard.evaluate(run, "valid", metrics=["perplexity"], quiet=True)[0].value < perplexity.value
    assert regard.evaluate(model, source=tmp_path / "small.pt", metrics=["perplexity"])[0].value == pytest.approx(
        perplexity.value
    )
    assert '"test"' in (run / "scores.json").read_text()
    assert capsys.readouterr() == ("", "")
    with pytest.raises(regard.Fault, match="already holds a run"):
        regard.train(counted(tmp_path), {"model.order": 3}, out=run, seed=7, quiet=True)
    regard.train(out=run, resume=True)
    assert "is finished; there is nothing to resume" in capsys.readouterr().err
    with pytest.raises(regard.Fault, match="beam is for translators; an ngram is scored on a split of its data"):
        regard.evaluate(model, beam=3)


def test_two_files_are_trained_as_on_the_command_line_in_any_thread(tmp_path: Path, trained: Path) -> None:
    source, target = write_corpus(tmp_path)
    models: list[regard.Model] = []
    arguments = {"source": source, "target": str(target), "settings": SETTINGS, "out": tmp_path / "run", "quiet": True}
    worker = threading.Thread(target=lambda: models.append(regard.train(**arguments)))
    worker.start()
    worker.join()
    assert (tmp_path / "run" / "weights.safetensors").read_bytes() == (trained / "weights.safetensors").read_bytes()
    (model,) = models
    few = [file.with_stem("few") for file in (source, target)]
    for file, whole in zip(few, (source, target), strict=True):
        file.write_text("".join(whole.read_text(encoding="utf-8").splitlines(keepends=True)[:5]), encoding="utf-8")
    (exact,) = regard.evaluate(model, source=few[0], reference=[few[1]], metrics=["exact"], beam=1, quiet=True)
    assert exact.n == 5
    with pytest.raises(regard.Fault, match=r"^source and reference belong together; give both, or a split"):
        regard.evaluate(model, source=source)


def test_what_is_missing_or_contradicts_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(regard.Fault, match="Give a recipe"):
        regard.train()
    with pytest.raises(regard.Fault, match="There is no recipe 'dmeo'; did you mean 'demo'"):
        regard.train("dmeo", out=tmp_path / "run")
    with pytest.raises(regard.Fault, match="Give a recipe or text files, not both"):
        regard.train("demo", source="a", target="b")
    with pytest.raises(regard.Fault, match="continues a run and overwrite=True replaces it"):
        regard.train("demo", out=tmp_path / "run", resume=True, overwrite=True)


@pytest.mark.parametrize("minutes", [-1, math.nan, "1"])
def test_minutes_that_are_no_length_of_time_are_refused_before_anything_begins(minutes: Any, tmp_path: Path) -> None:
    table, out = counted(tmp_path), tmp_path / "out"
    calls: list[Callable[[], object]] = [
        lambda: regard.train(table, out=out, minutes=minutes, quiet=True),
        lambda: regard.compare(table, {"model.order": [1, 2]}, out=out, minutes=minutes, quiet=True),
        lambda: regard.distil(tmp_path, out=out, minutes=minutes, quiet=True),
    ]
    for call in calls:
        with pytest.raises(regard.Fault, match=rf"^minutes is {minutes!r}, expected a number of minutes\.$"):
            call()
    assert not out.exists()


def test_variants_are_compared_as_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, ways = counted(tmp_path), {"model.order": [1, 2, 3]}
    comparison = regard.compare(table, ways, seeds=1, metrics=["perplexity"], out=tmp_path / "python", quiet=True)
    assert capsys.readouterr() == ("", "")
    assert [row["variant"] for row in comparison.rows] == ["1", "2", "3"]
    assert [row["metric"] for row in comparison.rows] == ["perplexity"] * 3
    assert comparison.rows[0]["difference"] is None
    assert comparison.rows[1]["difference"] == pytest.approx(comparison.rows[1]["mean"] - comparison.rows[0]["mean"])
    recipe = tmp_path / "counted.toml"
    recipe.write_text(tomli_w.dumps(table))
    options = [
        "--vary",
        "model.order=1,2,3",
        "--seeds",
        "1",
        "--metric",
        "perplexity",
        "--out",
        str(tmp_path / "shell"),
    ]
    assert main(["compare", str(recipe), *options]) == 0
    for row, same in zip(comparison.rows, read_rows(tmp_path / "shell" / "comparison.csv"), strict=True):
        assert (row["variant"], str(row["mean"])) == (same["variant"], same["mean"])
    again = regard.compare(table, ways, seeds=1, metrics=["perplexity"], out=tmp_path / "python", resume=True)
    assert "3 of 3 runs are finished already." in capsys.readouterr().err
    assert again.rows[2]["mean"] == comparison.rows[2]["mean"]


def test_a_comparison_refuses_and_stops_as_the_command_does(tmp_path: Path) -> None:
    table, named = counted(tmp_path), {"as it is": {}, "longer": {"model.order": 3}}
    arguments = {"seeds": 1, "metrics": ["perplexity"], "out": tmp_path / "out", "quiet": True}
    with pytest.raises(regard.Fault, match=r"^0 of 2 runs are finished; resume=True continues with the others\.$"):
        regard.compare(table, variants=named, minutes=0, **arguments)
    comparison = regard.compare(table, variants=named, resume=True, **arguments)
    assert [row["variant"] for row in comparison.rows] == ["as it is", "longer"]
    with pytest.raises(regard.Fault, match=r"already holds a comparison; resume=True continues it, overwrite=True"):
        regard.compare(table, variants=named, **arguments)
    with pytest.raises(regard.Fault, match=r"resume=True continues .* overwrite=True replaces it; give one"):
        regard.compare(table, variants=named, resume=True, overwrite=True, **arguments)
    with pytest.raises(regard.Fault, match="A comparison needs two variants or more: give vary"):
        regard.compare(table, **arguments)


def read_rows(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_help_lists_the_doors_and_importing_loads_no_torch() -> None:
    text = pydoc.plain(pydoc.render_doc(regard))
    for door in ("evaluate(", "load(", "train(", "watching(", "class Fault", "class Model"):
        assert door in text
    program = "import sys, regard; dir(regard); sys.exit('torch' in sys.modules or 'rich' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(AttributeError, match="module 'regard' has no attribute 'trian'"):
        _ = regard.trian

"""The example package of docs/extend.md: installed into a folder, trained, compared, drawn, served and checked."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from plugin_files import forget_plugins
from starlette.testclient import TestClient

import regard
from regard.base import plugins
from regard.cli import main
from regard.serving.app import make_app

pytestmark = pytest.mark.usefixtures("no_curves")
ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "pointer"
QUICK = ["--set", "training.steps=30", "--set", "training.validate_every=15", "--set", "training.save_every=15",
         "--set", "training.batch=32", "--set", "data.measured=40", "--set", "model.width=32",
         "--set", "training.optimizer.warmup=5"]  # fmt: skip
FEW = ["--set", "training.steps=4", "--set", "training.validate_every=2", "--set", "training.save_every=2"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which pip has installed a copy of the package."""
    folder = tmp_path_factory.mktemp("installed")
    shutil.copytree(EXAMPLE, folder / "copy", ignore=shutil.ignore_patterns("build", "*.egg-info"))
    offline = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--no-compile"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *offline, "--target", str(folder / "site"), str(folder / "copy")],
        check=True,
        timeout=120,
    )
    return folder / "site"


@pytest.fixture(scope="module")
def here(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder to run commands in, in a process that finds the installed package."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("here")
        patch.syspath_prepend(installed)
        patch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{installed}")
        patch.setenv(plugins.VARIABLE, "")
        forget_plugins()
        patch.chdir(folder)
        yield folder
        forget_plugins()


@pytest.fixture(scope="module")
def model(here: Path) -> Path:
    """Return a pointer network that sorts numbers, trained for a few steps."""
    assert main(["train", "pointer-sort", *QUICK]) == 0
    return here / "runs" / "pointer-sort"


def test_the_package_has_fewer_than_250_lines() -> None:
    lines = [line for path in (EXAMPLE / "regard_pointer").glob("*.py") for line in path.read_text().splitlines()]
    assert sum(bool(line.strip()) for line in lines) < 250


def test_its_family_and_recipes_are_listed(here: Path, capsys) -> None:
    assert main(["families"]) == 0
    assert "point at elements of the input" in capsys.readouterr().out
    assert main(["recipes"]) == 0
    assert "pointer-hull" in capsys.readouterr().out


def test_a_hull_is_found_as_on_paper(here: Path) -> None:
    from regard_pointer.task import places_of

    square = np.array([[0.0, 0.0], [0.5, 0.4], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    assert places_of("hull", square) == [1, 3, 4, 5, 0, 0]
    assert places_of("sort", np.array([[0.3], [0.1], [0.2]])) == [2, 3, 1, 0]


def test_it_answers_is_measured_and_described(model: Path, capsys) -> None:
    assert main(["answer", str(model), "0.5 0.1 0.9", "0.2 0.1 0.7 0.4"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert set(first.split()) <= {"0.5", "0.1", "0.9"}
    assert set(second.split()) <= {"0.2", "0.1", "0.7", "0.4"}
    assert main(["evaluate", str(model), "--json"]) == 0
    assert {score["metric"] for score in json.loads(capsys.readouterr().out)["scores"]} == {"loss", "accuracy"}
    assert main(["info", str(model)]) == 0
    assert "pointing" in capsys.readouterr().out
    assert main(["answer", str(model), "one two"]) == 2
    assert "give numbers, with spaces between them." in capsys.readouterr().err
    assert main(["translate", str(model), "--text", "a"]) == 2
    assert "A pointer gives elements of each sequence, in order; use `regard answer`." in capsys.readouterr().err


def test_its_folder_names_the_package_that_it_needs(model: Path) -> None:
    record = json.loads((model / "plugins.json").read_text())["plugins"]
    assert record == [{"plugin": "regard_pointer", "package": "regard-pointer", "version": "0.1.0",
                       "family": "pointer", "task": "pointing"}]  # fmt: skip
    program = "import sys; from regard.cli import main; sys.exit(main(['info', sys.argv[1]]))"
    bare = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program, str(model)], env=bare, capture_output=True, text=True)
    assert done.returncode == 2
    assert "needs the plugin regard_pointer of the package regard-pointer 0.1.0, which is not loaded" in done.stderr


@pytest.mark.parametrize("suffix", ["png", "html", "json"])
def test_it_is_drawn(model: Path, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"look.{suffix}"
    assert main(["look", str(model), "0.5 0.1 0.9", "-o", str(out)]) == 0
    assert out.stat().st_size > 500


def test_it_is_asked_why(model: Path, capsys) -> None:
    assert main(["look", str(model), "0.5 0.1 0.9", "--why", "all", "--place", "1"]) == 0
    captured = capsys.readouterr()
    assert {"attention", "integrated-gradients", "occlusion"} <= {*captured.out.split()}
    assert "An output points at an element, which cannot be taken out; use occlusion." in captured.err
    assert main(["look", str(model), "0.5 0.1 0.9", "--why", "occlusion", "--place", "4"]) == 2
    assert "so there is no element number 4." in capsys.readouterr().err
    view = regard.load(model).why("0.5 0.1 0.9", "attention", trust=True)
    (found,) = view.numbers()["maps"]
    assert len(found["scores"]) == 3
    assert "deletion" in str(found["trust"])


def test_it_is_shown_in_a_notebook(model: Path) -> None:
    loaded = regard.load(model)
    assert "pointer" in loaded._repr_html_()
    assert "0.1" in loaded.answer(["0.5 0.1"])[0]._repr_html_()
    assert "<iframe" in loaded.look("0.5 0.1 0.9")._repr_html_()
    with regard.watching(loaded) as gazes:
        loaded.answer(["0.5 0.1 0.9"])
    assert (gazes[0].looks_from, gazes[0].looks_at, gazes[0].weights.shape) == ("output", "elements", (1, 1, 4, 4))


def test_it_is_served_with_its_page(model: Path) -> None:
    with TestClient(make_app([model]), base_url="http://localhost") as client:
        (about,) = client.get("/v1/models").json()["models"]
        assert (about["family"], about["reads"]) == ("pointer", "sequence")
        assert {"answer", "look"} <= {*about["can"]}
        answer = client.post("/v1/answer", json={"inputs": ["0.5 0.1 0.9"]}).json()["answers"][0]
        assert set(answer["answer"].split()) <= {"0.5", "0.1", "0.9"}
        assert client.post("/v1/look", json={"input": "0.5 0.1 0.9"}).json()["view"] == "tinted"
        assert client.get("/").status_code == 200


@pytest.mark.long
def test_it_is_compared_with_three_seeds_side_by_side(here: Path, capsys) -> None:
    """A run that is missing is trained in a process of its own, which finds the package."""
    vary = ["--vary", "model.width=8,32", "--seeds", "3", "--metric", "accuracy"]
    command = ["compare", "pointer-sort", *QUICK, *FEW, *vary, "--split", "valid"]
    assert main(command) == 0
    assert "accuracy" in capsys.readouterr().out
    folder = here / "runs" / "compare-pointer-sort"
    weights = {path: path.read_bytes() for path in folder.glob("*/seed-*/weights.safetensors")}
    assert len(weights) == 6
    shutil.rmtree(folder / "8" / "seed-2")
    assert main([*command, "--jobs", "2", "--resume"]) == 0
    assert {path: path.read_bytes() for path in weights} == weights


@pytest.mark.long
def test_it_is_trained_by_processes_that_find_the_package(here: Path) -> None:
    ranks = ["--out", "ranks", "--processes", "2", "--set", "training.pieces=2"]
    assert main(["train", "pointer-sort", *QUICK, *FEW, *ranks]) == 0


def test_it_keeps_all_promises(here: Path, capsys) -> None:
    assert main(["check-family", "pointer", "--json"]) == 0
    verdicts = json.loads(capsys.readouterr().out)["promises"]
    assert len(verdicts) == 16
    assert [verdict["is_held"] for verdict in verdicts] == [True] * 16


BROKEN = {
    "global-chance": (
        "chance = np.random.default_rng([seed, epoch, number, 0] if is_train else [0, 0, len(split), 1])",
        "chance = np.random.default_rng(np.random.randint(9999))",
        "its toy is trained to the end",  # tests watch trainings too
        "batches used global random numbers of numpy",
    ),
    "mean-of-means": (
        "return Loss(nats.sum(), counts.sum())",
        "return Loss(nats.mean(), counts.sum())",
        "a batch in pieces has the same gradients",
        "pieces a batch gives another loss or gradients",
    ),
    "leaking-rows": (
        "shares = (-self._nats(batch.read, places)[0]).exp().tolist()",
        "shares = (-self._nats(batch.read, places)[0]).softmax(0).tolist()",
        "inputs have the same answers together and alone",
        "answer of input 1 among others",
    ),
    "leaking-copies": (
        "lambda copies: self.model(copies, ",
        "lambda copies: self.model(copies.roll(1, 0), ",
        "its decisions can be explained",
        "the log-probability among other copies",
    ),
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", BROKEN)
def test_broken_families_are_found_out(here: Path, tmp_path: Path, monkeypatch, capsys, name: str) -> None:
    right, wrong, promise, reason = BROKEN[name]
    package = f"broken_{name.replace('-', '_')}"
    shutil.copytree(EXAMPLE / "regard_pointer", tmp_path / package)
    for path in (tmp_path / package).glob("*.py"):
        text = path.read_text(encoding="utf-8").replace("regard_pointer", package)
        path.write_text(text.replace('"pointer": family', f'"{name}": family').replace('"pointing"', f'"{name}"'))
    rows = tmp_path / package / "__init__.py"
    rows.write_text(rows.read_text().replace("recipes=recipes", "recipes={}"), encoding="utf-8")
    task = tmp_path / package / "task.py"
    assert right in task.read_text()
    task.write_text(task.read_text().replace(right, wrong), encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv(plugins.VARIABLE, "")
    assert main(["check-family", name, "--plugin", package, "--json"]) == 1
    verdicts = {verdict["promise"]: verdict for verdict in json.loads(capsys.readouterr().out)["promises"]}
    assert verdicts[promise]["is_held"] is False
    assert reason in verdicts[promise]["reason"]


def test_families_without_a_toy_are_checked_by_a_recipe(here: Path, tmp_path: Path, capsys) -> None:
    assert main(["check-family", "gat"]) == 2
    assert "The row of the family gat names no toy to check it on; give --recipe FILE." in capsys.readouterr().err
    assert main(["check-family", "nothing"]) == 2
    assert "family is 'nothing', expected one of 'transformer'" in capsys.readouterr().err
    assert main(["check-family", "gat", "--input", "1"]) == 2
    recipe = tmp_path / "adding.toml"
    recipe.write_text(
        "family = 'decoder'\ndata = { job = 'adding', length = 6, examples = 24, valid = 8 }\n"
        "model = { width = 8, layers = 1, heads = 2, feed_forward = 8 }\ntraining = { batch = 8 }\n",
        encoding="utf-8",
    )
    inputs = ["--input", "0.3 0.5* 0.2* 0.1 0.1 0.1", "--input", "0.1* 0.4 0.9* 0.2 0.2 0.2"]
    assert main(["check-family", "decoder", "--recipe", str(recipe), *inputs]) == 0
    (skipped,) = [line for line in capsys.readouterr().out.splitlines() if "does not apply" in line]
    assert skipped.split("  ")[0] == "its decisions can be explained"
    assert "a number, which has no probability" in skipped

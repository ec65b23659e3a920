"""Extras: one sentence names the extra of a missing package, and the central job needs none."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import matplotlib
import pytest
from small import write_corpus
from toys import TOYS, open_trained_toy

from regard.base.extras import EXTRAS, importing, is_installed, refuse_without
from regard.base.faults import Fault
from regard.cli import main

pytestmark = pytest.mark.usefixtures("no_curves")
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ALL = [name for extra in EXTRAS.values() for name in extra.modules]


def refused(capsys: pytest.CaptureFixture[str], package: str, extra: str, *words: str) -> None:
    capsys.readouterr()
    assert main([*words]) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert lines[-1].endswith(f" needs {package}, which is not installed: pip install 'regard[{extra}]'.")
    assert not any("Traceback" in line for line in lines)


def names_of(requirements: list[str]) -> set[str]:
    return {re.match(r"[\w-]+", requirement)[0].replace("-", "_").lower() for requirement in requirements}  # type: ignore[index]


def test_the_table_is_that_of_the_package() -> None:
    optional = {
        name: needed
        for name, needed in PROJECT["optional-dependencies"].items()
        if name not in ("bench", "dev", "docs")
    }
    assert optional.keys() == EXTRAS.keys()
    for name, needed in optional.items():
        assert names_of(needed) <= {*EXTRAS[name].modules}
    assert not names_of(PROJECT["dependencies"]) & {*ALL}


def test_developers_have_every_extra_that_tests_need() -> None:
    dev = " ".join(PROJECT["optional-dependencies"]["dev"])
    assert "regard[data,onnx,sound,tensorboard,words]" in dev


def test_only_packages_of_the_extra_are_its_business(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "soundfile", None)
    with (
        pytest.raises(
            Fault, match=r"^A sound needs soundfile, which is not installed: pip install 'regard\[sound\]'\.$"
        ),
        importing("sound", "A sound"),
    ):
        import soundfile
    with pytest.raises(ModuleNotFoundError, match="soundfile"), importing("onnx", "A graph"):
        import soundfile  # noqa: F401
    with pytest.raises(Fault, match="needs soundfile"):
        refuse_without("sound", "A sound")
    assert not is_installed("sound")


def test_sounds_are_not_read_or_written_without_their_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ctc", "tacotron"):
        (tmp_path / name).mkdir()
        open_trained_toy(name, tmp_path / name)
    monkeypatch.setitem(sys.modules, "soundfile", None)
    sound = next((tmp_path / "ctc" / "tones").glob("*.wav"))
    refused(capsys, "soundfile", "sound", "transcribe", str(tmp_path / "ctc" / "run"), str(sound))
    speech = ["--text", "ab", "-o", str(tmp_path / "said.wav")]
    refused(capsys, "soundfile", "sound", "speak", str(tmp_path / "tacotron" / "run"), *speech)
    assert not (tmp_path / "said.wav").exists()


def recipe_file(name: str, folder: Path) -> Path:
    import tomli_w

    table = TOYS[name].table(folder) | {"family": name}
    (folder / "recipe.toml").write_text(tomli_w.dumps(table), encoding="utf-8")
    return folder / "recipe.toml"


@pytest.mark.parametrize("name", ["word2vec", "glove", "fasttext"])
def test_words_are_not_learnt_without_a_compiler(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = recipe_file(name, tmp_path)
    for module in [module for module in sys.modules if module.startswith(("numba", "llvmlite"))]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "numba", None)
    refused(capsys, "numba", "words", "train", str(recipe), "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_vectors_that_are_there_need_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    open_trained_toy("word2vec", tmp_path)
    lines = f"""
import sys
sys.modules.update(dict.fromkeys({ALL!r}))
from regard.cli import main
sys.exit(main(["neighbours", {str(tmp_path / "run")!r}, "the", "--count", "1"]))
"""
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("the ")


@pytest.mark.parametrize(("file", "package"), [("pairs.tsv.zst", "zstandard"), ("pairs.parquet", "pyarrow")])
def test_packed_text_is_not_read_without_its_package(
    file: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / file).write_bytes(b"x")
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.delitem(sys.modules, "regard.data.corpora.table_rows", raising=False)
    columns = ["--columns", "a:b"] if package == "pyarrow" else []
    refused(
        capsys, package, "data",
        "train", "--pairs", str(tmp_path / file), *columns, "--languages", "en-pt", "--out", str(tmp_path / "out"),
    )  # fmt: skip


def test_a_graph_is_not_written_without_its_package(
    trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("regard.engines.onnx.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    refused(capsys, "onnx", "onnx", "export", str(trained), "--to", "onnx", "-o", str(tmp_path / "onnx"))
    assert not (tmp_path / "onnx").exists()


CENTRAL = """
import json, sys
sys.modules.update(dict.fromkeys({blocked!r}))
from regard.cli import main

def run(*words):
    print("run", *words, file=sys.stderr)
    assert main([*words]) == 0, words

sizes = ["--set", "model.preset=tiny", "--set", "training.steps=4", "--set", "training.batch_tokens=200"]
sizes += ["--set", "decoding.longest_ratio=0.5", "--set", "decoding.longest_extra=4"]  # no output ends by itself
run("train", "--source", "small.en", "--target", "small.pt", "--out", "run", *sizes)
run("translate", "run", "small.en", "-o", "out.pt")
run("score", "--hypothesis", "out.pt", "--reference", "small.pt")
run("evaluate", "run", "--split", "valid")
run("look", "run", "--text", "Ana", "-o", "look.svg")
run("card", "run", "-o", "card.md")
run("info", "run")

from pathlib import Path
from starlette.testclient import TestClient
from regard.serving.app import make_app
with TestClient(make_app([Path("run")]), base_url="http://127.0.0.1:5000") as client:
    answer = client.post("/translate", json={{"q": "Ana", "source": "en", "target": "pt"}})
    assert answer.status_code == 200, answer.text
    assert "translatedText" in answer.json()
    assert client.get("/").status_code == 200
loaded = sorted(name for name in sys.modules if name in {blocked!r} and sys.modules[name] is not None)
print(json.dumps(loaded))
"""


def test_the_central_job_runs_without_any_extra(tmp_path: Path) -> None:
    """Train from two files, translate, score, evaluate, look and serve in a process without these packages."""
    write_corpus(tmp_path, 60)
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"}
    environment["MPLCONFIGDIR"] = matplotlib.get_cachedir()  # making the list of fonts again takes seconds
    program = [sys.executable, "-c", CENTRAL.format(blocked=ALL)]
    done = subprocess.run(program, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == []
    assert "no TensorBoard curves, because it is not installed: pip install 'regard[tensorboard]'" in done.stderr
    assert not (tmp_path / "run" / "training" / "tensorboard").exists()
    assert "<svg" in (tmp_path / "look.svg").read_text(encoding="utf-8")

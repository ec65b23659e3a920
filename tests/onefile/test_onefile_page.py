"""One-file pages as files: what they hold, what their policy allows, and what is refused."""

import base64
import hashlib
import re
import shutil
import zlib
from pathlib import Path

import numpy as np
import pytest

from regard.base.faults import Fault
from regard.cli import main
from regard.engines.onnx.export import export_onnx, watched_graphs
from regard.engines.onnx.sessions import open_graph
from regard.onefile import page
from regard.onefile.export import page_data
from regard.onefile.runtime import Runtime
from regard.verbs.translate.model import TranslationModel, load_translation_model

RUNTIME = Runtime("globalThis.ort = {};", b"\0asm" * 100)


@pytest.fixture(scope="module")
def model(trained: Path) -> TranslationModel:
    return load_translation_model(trained, device="cpu")


@pytest.fixture(scope="module")
def written(model: TranslationModel, trained: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("page") / "page.html"
    size = page.write_page(place, page.DESKS["translate"], page_data(model, trained)[1], watched_graphs(model), RUNTIME)
    assert size == place.stat().st_size
    return place.read_text(encoding="utf-8")


def test_a_page_holds_graphs_weights_and_runtime(written: str, model: TranslationModel) -> None:
    packed = dict(re.findall(r'class="part" data-name="([\w.]+)">([A-Za-z0-9+/=]+)</script>', written))
    parts = {name: zlib.decompress(base64.b64decode(text)) for name, text in packed.items()}
    assert parts == watched_graphs(model) | {"runtime.wasm": RUNTIME.wasm}


def test_the_policy_allows_its_own_scripts_and_no_request(written: str) -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', written)
    scripts = re.findall(r'<script type="module">(.*?)</script>', written, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", written, re.DOTALL)
    for part in (*scripts, style):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'" in policy
    assert scripts[:-1] == [RUNTIME.script]
    assert "default-src 'none'" in policy
    assert not re.search("connect-src|'unsafe-eval'|'unsafe-inline'", policy)
    assert set(re.findall(r"https?://[\w./]+", written)) == {"http://www.w3.org/2000/svg"}
    assert page._PARTS not in written


def test_a_page_that_is_too_large_is_refused_with_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_BYTES", 1_000_000)
    noise = np.random.default_rng(0).bytes(3_000_000)
    with pytest.raises(Fault, match=r"would be 4 MB large, but browsers open at most 1 MB .* export a smaller model"):
        page.write_page(tmp_path / "page.html", page.DESKS["write"], {}, {"weights.data": noise}, RUNTIME)
    assert list(tmp_path.iterdir()) == []


def test_a_watched_step_gives_every_head_and_the_same_numbers(model: TranslationModel, tmp_path: Path) -> None:
    export_onnx(model, tmp_path / "onnx", "int8")
    plain = open_graph(tmp_path / "onnx" / "step.onnx")
    for name, content in watched_graphs(model).items():
        (tmp_path / name).write_bytes(content)
    watched = open_graph(tmp_path / "step.onnx")
    encoder = open_graph(tmp_path / "encoder.onnx")
    source = np.array([[*model.task.source.encode("I love books."), model.task.source.end]])
    names = [output.name for output in encoder.get_outputs() if output.name.startswith("memory.")]
    memory = encoder.run(names, {"source": source, "lengths": np.array([source.size])})
    past = {
        each.name: np.zeros((1, each.shape[1], 0, each.shape[3]), np.float32)
        for each in plain.get_inputs()
        if each.name.startswith("past.")
    }
    inputs = {
        "target": np.array([[model.task.begin]]),
        "count": np.array([4]),
        **dict(zip(names, memory, strict=True)),
        **past,
    }
    shared = [output.name for output in plain.get_outputs()]
    for one, other in zip(plain.run(shared, inputs), watched.run(shared, inputs), strict=True):
        np.testing.assert_array_equal(one, other)
    looks, (attention,) = watched.run(["looks.0", "looks.1"], inputs), watched.run(["attention"], inputs)
    assert [weights.shape for weights in looks] == [(1, 2, source.size)] * 2
    np.testing.assert_allclose(looks[0].mean(1), attention, rtol=1e-6)
    np.testing.assert_allclose([weights.sum(-1) for weights in looks], 1.0, rtol=1e-5)
    (own,) = encoder.run(["own_looks.0"], {"source": source, "lengths": np.array([source.size])})
    (back,) = watched.run(["own_looks.0"], inputs)
    assert (own.shape, back.shape) == ((1, 2, source.size, source.size), (1, 2, 1))
    np.testing.assert_allclose(own.sum(-1), 1.0, rtol=1e-5)


def test_what_pages_cannot_follow_is_refused(model: TranslationModel, trained: Path) -> None:
    decoding = model.recipe.decoding.model_copy(update={"unrepeated": 3})
    changed = load_translation_model(trained, device="cpu")
    changed.recipe = model.recipe.model_copy(update={"decoding": decoding})
    with pytest.raises(Fault, match=r"Pages cannot follow decoding\.unrepeated = 3"):
        page_data(changed, trained)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "onnx", "--runtime", "x"], "--runtime is for html and has no effect for onnx."),
        (["--to", "html", "--quantisation", "float32", "-o", "x.html"], "'float32', but for html it is int8 or int4."),
        (["--to", "html"], "Name a file for the html model with -o."),
        (["--to", "html", "-o", "x.txt"], "A page is an .html file"),
        (["--to", "html", "-o", "x.html", "--runtime", "nowhere"], "nowhere does not exist"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str],
    message: str,
    trained: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(trained, tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    assert main(["export", "run", *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]

"""An imported GPT-2 in one file, opened from disk in a real browser: it continues a prompt as Python does."""

import sys
from pathlib import Path

import pytest
import torch
from chromium import Browser
from exported_texts import ExportedWriter
from onefile_pages import write_onefile

from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions
from regard.engines.gpt2.importing import import_gpt2
from regard.engines.onnx.export import export_onnx
from regard.loading import Loaded, load_as

sys.path.insert(0, str(Path(__file__).parents[1] / "engines"))
from gpt2_models import write_gpt2

pytestmark = pytest.mark.browser
TOKENS = 6
_READY = "return !document.getElementById('desk').hidden && !document.getElementById('why').hidden"
_WRITE = """
const [prompt, search, done] = arguments;
writing.write(prompt, search, new AbortController().signal, () => {}).then(done, (error) => done(String(error)));
"""


def test_an_imported_gpt2_continues_as_in_python(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = tmp_path_factory.mktemp("gpt2")
    import_gpt2(write_gpt2(place / "theirs"), place / "ours")
    model = load_as(Loaded, place / "ours", "cpu")
    export_onnx(model, place / "onnx", "int8")
    writer = ExportedWriter(model, place / "onnx")
    browser.open(write_onefile(model, place / "ours", tmp_path_factory), "#prompt=hello")
    browser.wait(_READY)
    for prompt in ("hello", "hello\n\nwo é", "Ё🙂"):
        batch = writer.task.read([prompt])
        ((best, *_),) = beam_search(writer, batch, torch.tensor([TOKENS]), DecodingOptions(beam=1), must_end=False)
        found = browser.driver.execute_async_script(_WRITE, prompt, {"tokens": TOKENS, "past_end": False})
        written = [token for token in best.tokens if token != writer.tokeniser.end]
        assert found["tokens"] == writer.tokeniser.pieces(written)
        assert found["text"] == prompt + writer.tokeniser.decode(written)
    assert browser.said() == []

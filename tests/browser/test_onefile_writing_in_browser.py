"""A language model in one file, opened from disk in real browsers: it reads and continues a prompt as Python does."""

from pathlib import Path
from typing import Any

import pytest
import torch
from chromium import Browser
from exported_texts import ExportedWriter
from marionette import firefox_or_skip
from onefile_pages import write_onefile
from toys import open_trained_toy

from regard.decoding.beam import beam_search
from regard.decoding.options import DecodingOptions, SamplingOptions
from regard.decoding.sampling import sample
from regard.engines.onnx.export import export_onnx
from regard.loading import Loaded, load_as
from regard.tasks.language.batches import Prompts
from regard.verbs.generate.continuing import PastEnds
from regard.verbs.generate.generated import stem_of

pytestmark = pytest.mark.browser
PROMPT, TOKENS, SEED = "b a c", 7, 4
_READY = "return !document.getElementById('desk').hidden && !document.getElementById('why').hidden"
_WRITE = """
const [prompt, search, done] = arguments;
writing.write(prompt, search, new AbortController().signal, () => {}).then(done, (error) => done(String(error)));
"""
_READ = """
const [prompt, done] = arguments;
writing.read(prompt, 8, {}).then(({ next, tokens }) => done([next, tokens]));
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return open_trained_toy("gpt", tmp_path_factory.mktemp("gpt"), layers=2, context=24).folder.folder


@pytest.fixture(scope="module")
def model(folder: Path) -> Loaded:
    return load_as(Loaded, folder, "cpu")


@pytest.fixture(scope="module")
def writer(model: Loaded, tmp_path_factory: pytest.TempPathFactory) -> ExportedWriter:
    """Return the int8 export, run by onnxruntime in Python."""
    out = tmp_path_factory.mktemp("rounded") / "onnx"
    export_onnx(model, out, "int8")
    return ExportedWriter(model, out)


@pytest.fixture(scope="module")
def page(model: Loaded, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_onefile(model, folder, tmp_path_factory)


@pytest.fixture
def opened(browser: Browser, page: Path) -> Browser:
    browser.open(page, f"#prompt={PROMPT.replace(' ', '+')}")
    browser.wait(_READY)
    return browser


def drawn(writer: ExportedWriter, prompt: str, **options: Any) -> str:
    """Return the sample of Python's search, past the ends of lines."""
    batch = writer.task.read([prompt])
    decoding = DecodingOptions(sampling=SamplingOptions(seed=SEED, **options))
    task = PastEnds(writer, writer.tokeniser.size)
    ((found,),) = sample(task, batch, torch.tensor([TOKENS]), decoding, must_end=False)
    return joined(writer, prompt, found.tokens)


def joined(writer: ExportedWriter, prompt: str, tokens: list[int]) -> str:
    """Return a prompt with its continuation."""
    (read,) = writer.task.read([prompt]).tokens
    before = writer.task.write(read)
    return stem_of(prompt, before) + writer.task.write([*read, *tokens]).removeprefix(before)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("options", [{}, {"temperature": 0.6}, {"top_k": 3}, {"top_p": 0.7}], ids=str)
def test_samples_are_those_of_python(opened: Browser, writer: ExportedWriter, options: dict[str, Any]) -> None:
    search = {"tokens": TOKENS, "past_end": True, "sample": {"seed": SEED, **options}}
    for prompt in (PROMPT, "", "a\nb b"):
        found = opened.driver.execute_async_script(_WRITE, prompt, search)
        assert found["text"] == drawn(writer, prompt, **options)
        assert (found["ended"], len(found["tokens"])) == ("tokens", TOKENS)


def test_greedy_search_is_that_of_python(opened: Browser, writer: ExportedWriter) -> None:
    batch = writer.task.read([PROMPT])
    task = PastEnds(writer, writer.tokeniser.size)
    ((best, *_),) = beam_search(task, batch, torch.tensor([TOKENS]), DecodingOptions(beam=1), must_end=False)
    found = opened.driver.execute_async_script(_WRITE, PROMPT, {"tokens": TOKENS, "past_end": True})
    assert found["text"] == joined(writer, PROMPT, best.tokens)


def test_a_prompt_has_the_probabilities_of_python(opened: Browser, writer: ExportedWriter) -> None:
    following, tokens = opened.driver.execute_async_script(_READ, PROMPT)
    writer.start(Prompts([writer.task.read([PROMPT]).tokens[0]]))
    logs, _ = writer.step(torch.tensor([0]), None)  # type: ignore[arg-type]
    best = logs[0].exp().sort(descending=True, stable=True)
    assert [each["probability"] for each in following] == pytest.approx(best.values[:8].tolist(), rel=1e-4)
    assert [each["token"] for each in following] == writer.tokeniser.pieces(best.indices[:8].tolist())
    assert "".join(token["text"] for token in tokens) == writer.task.write(writer.task.read([PROMPT]).tokens[0])


def test_the_context_ends_a_text_or_is_forgotten(opened: Browser) -> None:
    search = {"tokens": 40, "past_end": True, "sample": {"seed": 1}}
    stopped = opened.driver.execute_async_script(_WRITE, PROMPT, search)
    assert (stopped["ended"], len(stopped["tokens"])) == ("context", 24 - 3 - 1)
    further = opened.driver.execute_async_script(_WRITE, PROMPT, search | {"when_full": "forget"})
    assert (further["ended"], len(further["tokens"]), further["forgotten"]) == ("tokens", 40, 23)
    refused = opened.driver.execute_async_script(_WRITE, "a " * 30, search)
    assert "long_prompt" in refused


def test_the_desk_shows_what_comes_next_and_what_is_looked_at(opened: Browser) -> None:
    opened.wait("return document.querySelectorAll('.choices .pick').length > 3")
    opened.wait("return document.querySelectorAll('.thumb').length", wanted=4)  # two blocks of two heads
    opened.find("#next-tab").click()
    opened.wait("return document.querySelectorAll('#tokens tbody tr').length > 5")
    opened.find("#go-on").click()
    opened.wait("return document.querySelectorAll('.continued').length > 3")
    opened.run("document.querySelector('.continued').click()")
    opened.wait(
        "return document.getElementById('prompt').value.length > 5 && !document.getElementById('undo').disabled"
    )
    assert opened.said() == []
    assert len(opened.requests()) == 1


def test_too_long_a_prompt_is_said(opened: Browser) -> None:
    opened.run(
        "const f = document.getElementById('prompt'); f.value = 'a '.repeat(40); f.dispatchEvent(new Event('input'))"
    )
    opened.wait("return document.querySelector('.writer .trouble').textContent.includes('leaves room for 22')")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(opened: Browser, scheme: str) -> None:
    opened.appear(390, 844, scheme)
    for tab in ("attention", "next"):
        opened.find(f"#{tab}-tab").click()
        opened.settle()
        assert opened.run("return document.documentElement.scrollWidth") <= 390


def test_firefox_writes_the_same_text(page: Path, writer: ExportedWriter, tmp_path: Path) -> None:
    with firefox_or_skip(tmp_path / "profile") as firefox:
        firefox.open(page)
        firefox.wait(_READY)
        search = f"{{ tokens: {TOKENS}, past_end: true, sample: {{ seed: {SEED} }} }}"
        firefox.run(
            f"writing.write({PROMPT!r}, {search}, new AbortController().signal, () => {{}})"
            ".then((found) => (document.title = JSON.stringify(found.text)))"
        )
        firefox.wait("return document.title.startsWith('\"')")
        assert firefox.run("return JSON.parse(document.title)") == drawn(writer, PROMPT)

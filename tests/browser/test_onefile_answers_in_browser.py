"""A classifier, a tagger and a BERT in one file, opened from disk: they answer as onnxruntime does in Python."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from chromium import Browser
from exported_texts import ExportedReader
from marionette import firefox_or_skip
from onefile_pages import write_onefile
from toys import open_trained_toy

from regard.engines.onnx.export import export_onnx
from regard.loading import Loaded, load_as

pytestmark = pytest.mark.browser
_READY = "return !document.getElementById('desk').hidden && !document.getElementById('why').hidden"
_ANSWER = """
const [texts, done] = arguments;
(async () => {
  const found = [];
  for (const text of texts) found.push((await answer(text)).answer);
  done(found);
})();
"""
TEXTS = {
    "encoder": ["the film is good", "awful", "Ação 🙂 is a very , very LOVELY film !", "dull unknown words"],
    "classes bert": ["the film is good", "awful", "a rather lovely film", "dull " * 12 + "good " * 13],
    "tagging encoder": ["the bilo meta .", "the", "Rio 12 de-x the mifuno USA Ação 🙂"],
    "tagging bert": ["the bilo meta .", "the mifuno", "Ação 🙂"],
    "bert": ["the [MASK] sees", "[MASK] [MASK]", "I [MASK] books ."],
}
OPTIONS: dict[str, dict[str, Any]] = {
    "classes bert": {"longest": 20, "too_long": "ends"},
    "bert": {"longest": 20},
    "encoder": {"layers": 2},
    "tagging encoder": {"previous_label": False, "output": "crf", "layers": 2},
}


@dataclass(frozen=True)
class Exported:
    """A toy, its page, and its int8 export in Python."""

    name: str
    model: Loaded
    page: Path
    reader: ExportedReader

    def expected(self, text: str) -> dict[str, float] | list[str]:
        """Return the probability of each class or filling, or the tags."""
        outputs, task = self.reader([text]), self.model.task
        if "scores" in outputs:
            scores, lengths = torch.from_numpy(outputs["scores"]), task.read([text]).inputs.lengths
            chain = task.model.chain
            tags = scores.argmax(-1) if chain is None else chain.best(scores, lengths)
            return [task.lexicon.tags[tag] for tag in tags[0].tolist()]
        logs = outputs["log_probabilities"]
        if self.name != "bert":
            return dict(zip(task.labels.classes, np.exp(logs[0]).tolist(), strict=True))
        best = np.argsort(-logs[0], axis=-1, kind="stable")
        return [" ".join(task.tokeniser.pieces([row[0] for row in best.tolist()]))]


@pytest.fixture(scope="module", params=list(TEXTS))
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    name: str = request.param
    options = OPTIONS.get(name, {})
    folder = open_trained_toy(name, tmp_path_factory.mktemp("toy"), **options).folder.folder
    model = load_as(Loaded, folder, "cpu")
    page = write_onefile(model, folder, tmp_path_factory)
    export_onnx(model, folder / "onnx", "int8")
    return Exported(name, model, page, ExportedReader(model, folder / "onnx"))


@pytest.fixture
def opened(browser: Browser, exported: Exported) -> Browser:
    browser.open(exported.page, f"#input={TEXTS[exported.name][0].replace(' ', '+')}")
    browser.wait(_READY)
    return browser


def test_answers_are_those_of_onnxruntime(opened: Browser, exported: Exported) -> None:
    texts = TEXTS[exported.name]
    for text, found in zip(texts, opened.driver.execute_async_script(_ANSWER, texts), strict=True):
        expected = exported.expected(text)
        if isinstance(expected, dict):
            assert found["probabilities"] == pytest.approx(expected, rel=1e-4)
        elif exported.name == "bert":
            assert [found["answer"]] == expected
        else:
            assert found["answers"] == expected
            assert all(0 < share <= 1 for share in found["probabilities"])
    assert opened.said() == []
    assert len(opened.requests()) == 1


@pytest.mark.one_in(2)
def test_the_desk_shows_the_answer_and_the_attention(opened: Browser, exported: Exported) -> None:
    assert opened.text("#answer")
    opened.wait("return document.querySelectorAll('.thumb').length > 1")
    rows = opened.run("return document.querySelectorAll('#answers tr').length")
    assert bool(rows) != exported.name.startswith("tagging")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("exported", ["encoder", "tagging encoder", "bert"], indirect=True)
def test_too_long_a_text_is_said(opened: Browser) -> None:
    typing = "const f = document.getElementById('input'); f.value = 'x '.repeat(5000);"
    opened.run(typing + "f.dispatchEvent(new Event('input', { bubbles: true }))")
    opened.wait("return document.getElementById('trouble').textContent.includes('at most; shorten it')")
    assert opened.run("return document.getElementById('answer-part').hidden")


@pytest.mark.one_in(3)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(opened: Browser, scheme: str) -> None:
    opened.appear(390, 844, scheme)
    opened.settle()
    assert opened.run("return document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("exported", ["tagging encoder"], indirect=True)
def test_firefox_answers_the_same(exported: Exported, tmp_path: Path) -> None:
    with firefox_or_skip(tmp_path / "profile") as firefox:
        firefox.open(exported.page)
        firefox.wait(_READY)
        text = TEXTS[exported.name][2]
        firefox.run(f"answer({text!r}).then(({{ answer }}) => (document.title = JSON.stringify(answer.answers)))")
        firefox.wait("return document.title.startsWith('[')")
        assert firefox.run("return JSON.parse(document.title)") == exported.expected(text)

"""The page with the real server: it shows what the model gives."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from chromium import Browser
from desk import settle

sys.path.insert(0, str(Path(__file__).parents[1] / "serving"))
from loopback import on_loopback
from toy import make_model

from regard.serving.app import make_app
from regard.serving.options import ServingOptions

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=window.hacked=5>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_model(tmp_path_factory.mktemp("served") / "toy", export=False)


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with on_loopback(make_app([folder], ServingOptions())) as address:
        yield address


def test_every_view_of_a_real_model(browser: Browser, address: str, folder: Path) -> None:
    import regard
    from regard.seeing.next_token import next_choices

    model = regard.load(folder)
    texts = ["Ana sees the red house.", "two dogs run."]
    translations = [model.translate([text])[0] for text in texts]
    browser.open(f"{address}/")
    browser.wait("return !document.getElementById('desk').hidden")
    browser.find("#text").send_keys("\n".join(texts))
    browser.wait(
        "return [...document.querySelectorAll('.sentence')].map((each) => each.textContent)",
        wanted=[translation.text for translation in translations],
    )
    browser.wait("return document.getElementById('why').hidden", wanted=False)
    settle(browser)
    assert len(browser.all("#sheet .thumb")) == 4
    browser.find("input[name=side][value=encoder]").click()
    assert browser.text("#matrix-title") == "Matrix: encoder, block 1, mean of 2 heads"
    browser.find("#next-tab").click()
    browser.wait("return document.querySelectorAll('#tokens tbody tr').length", wanted=13)
    names = browser.run("return [...document.querySelectorAll('#tokens tbody th')].map((each) => each.textContent)")
    tokens = list(next_choices(model, texts[-1]).tokens)  # for the sentence typed last
    assert names[:-1] == ["end of sentence" if token == "</s>" else token for token in tokens]
    browser.find(".pick").click()
    browser.wait("return document.getElementById('picked').hidden", wanted=False)
    settle(browser)
    assert browser.text("#before .place") in names
    for tab, part in (("others", "#n-best .output"), ("beam", ".node")):
        browser.find(f"#{tab}-tab").click()
        browser.wait("return document.querySelectorAll(arguments[0]).length > 0", part)
        settle(browser)
        assert not browser.find(f"#{tab}-trouble").is_displayed()
    assert browser.said() == []


def test_no_name_of_a_model_or_a_language_is_markup(browser: Browser, tmp_path: Path) -> None:
    names = [f"<img src=x onerror=window.hacked={number}>" for number in (1, 2)]
    source, target = "<svg onload=window.hacked=3>", "\"'><script>window.hacked=4</script>"
    folders = [make_model(tmp_path / name, source, target, export=False) for name in names]
    with on_loopback(make_app(folders)) as place:
        pick = json.dumps([names[0], "Ana reads.", [HOSTILE]])
        browser.open(f"{place}/", f"#{urlencode({'text': 'Ana reads.', 'pick': pick})}")
        browser.wait("return document.querySelectorAll('.translation').length", wanted=2)
        browser.wait("return document.getElementById('why').hidden", wanted=False)
        settle(browser)
        assert [element.text for element in browser.all("#models span")] == names
        assert browser.text("#from option") == source
        assert browser.text("#to option") == target
        assert HOSTILE in browser.text(".translation .trouble")  # the server's sentence has it
        browser.find("#picked button").click()  # back to what the model has
        browser.wait("return document.querySelector('.translation .trouble').hidden")
        assert browser.run("return window.hacked ?? null") is None
        assert browser.run("return [document.scripts.length, document.images.length]") == [2, 0]

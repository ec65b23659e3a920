"""The desk that captions pictures, in a real browser: a picture chosen, dropped or refused, and its words."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser
from desk import settle
from pretend import MODELS, Pretending
from pretend_captions import DESCRIBER, WATCHER

pytestmark = pytest.mark.browser

# A file dropped on the desk, as a browser reports it.
DROP = """
const [bytes] = arguments;
const files = new DataTransfer();
files.items.add(new File([new Uint8Array(bytes)], "dropped.png", { type: "image/png" }));
document.getElementById("caption-desk").dispatchEvent(new DragEvent("drop", { dataTransfer: files, bubbles: true }));
"""
CAPTION = "return document.getElementById('caption-text').textContent"


@pytest.fixture
def desk(browser: Browser, server: Pretending) -> Iterator[Browser]:
    server.models = [*MODELS, DESCRIBER, WATCHER]
    browser.open(server.address, "#tab=caption")
    browser.wait("return document.getElementById('motto').textContent.length > 0")
    yield browser
    browser.driver.get("about:blank")


def test_a_picture_is_described_and_every_word_shows_where_it_looked(
    desk: Browser, server: Pretending, tmp_path: Path
) -> None:
    (tmp_path / "dot.png").write_bytes(b"123")
    desk.find("#picture-file").send_keys(str(tmp_path / "dot.png"))
    desk.wait(CAPTION, wanted="a red circle above")
    settle(desk)
    picture = {"picture": b64encode(b"123").decode()}
    assert server.questions("/v1/caption") == [{"model": "describer", "pictures": [picture]}]
    assert desk.run("return document.getElementById('caption-preview').src").startswith("blob:")
    assert "log-probability −1.25" in desk.text("#caption-facts")
    assert [element.text for element in desk.all(".word-thumb")] == ["a", "red", "circle", "above", "end of sentence"]
    desk.point(desk.find("#caption-text [data-word='2']"))
    assert desk.text("#overlay-title") == "circle looks at"
    assert desk.text("#overlay-readout").startswith("most at row 2, column 1")
    assert desk.said() == []


def test_words_are_reached_by_keys_and_a_picture_may_be_dropped(desk: Browser, server: Pretending) -> None:
    desk.run(DROP, [49, 50])
    desk.wait(CAPTION, wanted="a red circle above")
    settle(desk)
    assert server.questions("/v1/caption")[0]["pictures"] == [{"picture": b64encode(b"12").decode()}]
    desk.run("document.querySelector('#caption-text [data-word]').focus()")
    desk.press("ARROW_RIGHT")
    assert desk.text("#overlay-title") == "red looks at"


def test_the_words_of_a_video_show_at_which_frames_they_looked(desk: Browser) -> None:
    desk.run(DROP, [49])
    desk.wait(CAPTION, wanted="a red circle above")
    settle(desk)
    assert desk.find("#overlay").is_displayed()
    assert desk.text("#picture-label") == "Picture"
    desk.run("const choice = document.getElementById('captioner'); choice.value = 'watcher'; "
             "choice.dispatchEvent(new Event('change'))")  # fmt: skip
    desk.wait("return document.getElementById('strip') !== null")
    assert desk.text("#picture-label") == "Video"
    settle(desk)
    desk.point(desk.find("#caption-text [data-word='2']"))
    assert desk.text("#strip-title") == "circle looks at"
    assert desk.text("#strip-readout").startswith("most at frame 3")
    assert not desk.all("#overlay")
    assert desk.said() == []


def test_a_file_that_is_too_large_and_no_picture_is_refused(desk: Browser) -> None:
    desk.run(DROP, [49] * 101)
    desk.wait("return document.getElementById('caption-trouble').hidden", wanted=False)
    assert desk.text("#caption-trouble") == "The picture has 101 bytes, but the limit is 100."
    assert not desk.find("#caption-part").is_displayed()

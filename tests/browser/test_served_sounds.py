"""The served page in a real browser with models that speak and transcribe."""

from pathlib import Path

import pytest
from chromium import Browser
from desk import settle, show_models, wished
from pretend import Pretending

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("left_behind")]

SPEAKER = {
    "name": "voices", "task": "speaking", "reads": "text", "family": "tacotron", "can": ["speak", "look"],
    "speakers": ["ann", "bob"],
}  # fmt: skip
LISTENER = {"name": "ears", "task": "transcription", "reads": "sound", "family": "ctc", "can": ["transcribe", "look"]}


def names_of_rows(page: Browser, holder: str) -> list[str]:
    return [element.text for element in page.all(f"#{holder} #frames-rows bdi")]


def test_a_text_is_spoken_as_who_is_chosen_and_drawn_beneath(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [SPEAKER])
    page.find("#spoken").send_keys("abc")
    page.press("ENTER")
    page.wait("return document.getElementById('sound-said').textContent", wanted="abc, said by ann")
    settle(page)
    assert page.run("return document.getElementById('player').src").startswith("blob:")
    page.wait("return document.getElementById('player').duration", wanted=0.3)
    assert not page.find("#sound-cut").is_displayed()
    assert names_of_rows(page, "speak-frames") == ["a", "b", "c"]
    assert [element.text for element in page.all("#frames-ticks span")][::4] == ["0.00 s", "0.30 s"]
    page.find("#speaker option[value=bob]").click()
    page.wait("return document.getElementById('sound-said').textContent", wanted="abc, said by bob")
    settle(page)
    questions = [(question["input"], question["speaker"]) for question in server.questions("/v1/look")]
    assert questions == [("abc", "ann"), ("abc", "bob")]
    assert {name: wished(page)[name] for name in ("spoken", "speaker")} == {"spoken": "abc", "speaker": "bob"}
    assert page.said() == []


def test_an_address_leads_to_a_sound_that_may_be_cut(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [SPEAKER], "#tab=speak&spoken=a…&speaker=bob")
    page.wait("return document.getElementById('sound-said').textContent", wanted="a…, said by bob")
    assert page.find("#sound-cut").is_displayed()


def test_what_cannot_be_spoken_is_told_and_nothing_old_is_left(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [SPEAKER], "#spoken=a")
    page.wait("return document.getElementById('speak-frames').hidden", wanted=False)
    server.refused_path, server.refusals = "/v1/speak", [(400, "'?' cannot be spoken.", {})]
    page.find("#spoken").send_keys("?")
    page.press("ENTER")
    page.wait("return document.getElementById('speak-trouble').textContent", wanted="'?' cannot be spoken.")
    assert not page.find("#sound-part").is_displayed()
    assert not page.find("#speak-frames").is_displayed()


def test_a_sound_is_heard_written_down_and_drawn_beneath(browser: Browser, server: Pretending, tmp_path: Path) -> None:
    page = show_models(browser, server, [SPEAKER, LISTENER], "#tab=speak&spoken=abc")
    page.wait("return document.getElementById('speak-frames').hidden", wanted=False)
    page.find("#transcribe-verb").click()
    sound = tmp_path / "said.wav"
    sound.write_bytes(b"12")
    page.find("#sound-file").send_keys(str(sound))
    page.wait("return document.getElementById('transcript').textContent", wanted="aa")
    settle(page)
    assert [element.text for element in page.all("#transcript-times li")] == [
        "a from 0.00 to 0.10 s",
        "a from 0.10 to 0.20 s",
    ]
    assert page.run("return document.getElementById('heard').src").startswith("blob:")
    # There is one view over time, which moves to the desk that asks last.
    assert names_of_rows(page, "transcribe-frames") == ["a", "a"]
    assert page.run("return document.querySelectorAll('#frames-weights').length") == 1
    page.find("#speak-verb").click()
    assert page.find("#sound-part").is_displayed()
    assert not page.find("#speak-frames").is_displayed()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_of_it(browser: Browser, server: Pretending, scheme: str) -> None:
    browser.appear(390, 844, scheme)
    text = "a rather long text of which every letter is a row"
    page = show_models(browser, server, [SPEAKER, LISTENER], f"#tab=speak&spoken={text}")
    page.wait("return document.getElementById('speak-frames').hidden", wanted=False)
    settle(page)
    assert page.find("#frames-weights").rect["width"] > 200
    assert_within_margins(page, "#player", "#frames-weights", "#spoken", "#speaker")
    page.find("#transcribe-verb").click()
    assert_within_margins(page, "#sound-file")


def assert_within_margins(page: Browser, *parts: str) -> None:
    """Check that the parts are no wider than the tabs above them, which span the margins."""
    assert page.run("return document.documentElement.scrollWidth") <= 390
    tabs = page.find("#verbs").rect
    for part in parts:
        box = page.find(part).rect
        assert box["x"] >= tabs["x"]
        assert box["x"] + box["width"] <= tabs["x"] + tabs["width"] + 1

"""The served page in a real browser with answering models: their desks and actions."""

from pathlib import Path
from typing import Any

import pytest
from chromium import Browser
from desk import settle, show_models, wished
from pretend import MODELS, Pretending

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("left_behind")]


def answering(reads: str, can: tuple[str, ...] = ("answer", "look")) -> dict[str, Any]:
    return {"name": f"parity of {reads}", "task": "parity", "reads": reads, "family": "oracle", "can": [*can]}


def bars(page: Browser) -> list[list[str]]:
    """Return the answers and their shares from the table."""
    return page.run(
        "return [...document.querySelectorAll('#answers tr')].map((row) => [...row.children].map((c) => c.textContent))"
    )


def test_where_models_only_translate_there_is_nothing_to_choose(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, MODELS)
    assert page.find("#desk").is_displayed()
    assert not page.find("#verbs").is_displayed()
    assert page.text("#motto") == "Translate, and see why."


def test_where_none_translates_the_page_answers(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [answering("nodes")])
    assert page.text("#motto") == "Answer, and see why."
    assert not page.find("#desk").is_displayed()
    assert not page.find("#verbs").is_displayed()
    page.find("#input").send_keys("12")
    page.press("ENTER")
    page.wait("return document.getElementById('answer').textContent", wanted="even 90\u202f%")
    settle(page)
    assert server.questions("/v1/answer") == [{"model": "parity of nodes", "inputs": [12]}]
    assert bars(page) == [["even", "90\u202f%"], ["odd", "5.0\u202f%"], ["zero", "5.0\u202f%"]]
    widths = [element.rect["width"] for element in page.all("#answers .bar i")]
    assert widths[0] == pytest.approx(18 * widths[1], rel=0.02)
    assert page.find("#graph-nodes .middle").get_attribute("aria-label") == "12"
    assert [element.text for element in page.all("#graph-nodes .node-name")] == ["", "7", "9"]
    assert wished(page)["input"] == "12"
    assert page.said() == []


def test_an_address_leads_to_an_answer(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [*MODELS, answering("nodes")], "#tab=answer&input=3")
    page.wait("return document.getElementById('answer').textContent", wanted="odd 90\u202f%")
    assert page.find("#answer-desk").is_displayed()
    assert not page.find("#desk").is_displayed()


def test_tabs_lead_from_desk_to_desk_by_pointer_and_by_key(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [*MODELS, answering("nodes", ("answer",))])
    assert page.text("#motto") == "Translate, answer, and see why."
    assert [element.text for element in page.all("#verbs .tab")] == ["Translate", "Answer"]
    page.find("#answer-verb").click()
    assert page.find("#answer-desk").is_displayed()
    assert wished(page) == {"tab": "answer"}
    page.press("ARROW_LEFT")
    assert page.find("#desk").is_displayed()
    assert not page.find("#answer-desk").is_displayed()
    assert page.find("#translate-verb").get_attribute("aria-selected") == "true"


def test_a_picture_is_shown_sent_and_what_was_looked_at_beneath(
    browser: Browser, server: Pretending, tmp_path: Path
) -> None:
    picture = tmp_path / "dot.png"
    picture.write_bytes(b"123")
    page = show_models(browser, server, [answering("picture")])
    page.find("#input").send_keys(str(picture))
    page.wait("return document.getElementById('answer').textContent", wanted="odd 90\u202f%")
    settle(page)
    assert server.questions("/v1/answer") == [{"model": "parity of picture", "inputs": [{"picture": "MTIz"}]}]
    assert page.run("return document.getElementById('preview').src").startswith("blob:")
    assert [element.text for element in page.all("#patches .glimpse span")] == ["glimpse 1", "glimpse 2"]
    larger = tmp_path / "larger.png"
    larger.write_bytes(b"1" * 101)
    page.find("#input").send_keys(str(larger))
    page.wait("return document.getElementById('answer-trouble').hidden", wanted=False)
    assert page.text("#answer-trouble") == "The picture has 101 bytes, but the limit is 100."


def test_another_model_answers_anew_or_shows_nothing(browser: Browser, server: Pretending) -> None:
    others = [answering("text", ("answer",)) | {"name": "the other"}, answering("picture")]
    page = show_models(browser, server, [answering("text", ("answer",)), *others], "#input=the+[12]")
    page.wait("return document.getElementById('answer-facts').textContent.includes('parity of text')")
    page.find("#answerer option:nth-child(2)").click()
    page.wait("return document.getElementById('answer-facts').textContent.includes('the other')")
    page.find("#answerer option:nth-child(3)").click()
    assert not page.find("#answer-part").is_displayed()


def test_a_text_is_answered_once_for_each_of_its_aspects(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [answering("text", ("answer",))], "#input=the+[12]+or+the+[3]")
    expected = "12: even 90\u202f% · 3: odd 90\u202f%"
    page.wait("return document.getElementById('answer').textContent", wanted=expected)
    assert [element.text for element in page.all("#answers caption")] == ["12", "3"]
    assert [line[0] for line in bars(page)] == ["even", "odd", "zero", "odd", "even", "zero"]
    assert server.questions("/v1/answer")[0]["unfold"] is True


def test_a_pair_of_texts_has_two_fields(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [answering("text", ("answer",)) | {"pairs": True}], "#input=of+[12]%09and+[3]")
    page.wait("return document.getElementById('answer').textContent.length > 0")
    assert server.questions("/v1/answer")[0]["inputs"] == ["of [12]\tand [3]"]
    assert page.run("return document.getElementById('second').value") == "and [3]"
    page.find("#second").clear()
    page.find("#second").send_keys("no\n")
    settle(page)
    assert server.questions("/v1/answer")[1]["inputs"] == ["of [12]\tno"]


def test_a_story_is_typed_asked_about_and_shown_with_its_hops(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [answering("story")])
    assert page.text("#input-title") == "Story and question"
    page.find("#input").send_keys("Ana is here.\nRui left.\nWhere is Ana?\n")
    page.wait("return document.getElementById('answer').textContent", wanted="even 90\u202f%")
    settle(page)
    story = "Ana is here.\nRui left.\nWhere is Ana?"
    assert server.questions("/v1/answer") == [{"model": "parity of story", "inputs": [story]}]
    assert [element.text for element in page.all("#facts tbody th")] == ["Ana is here.", "Rui left."]
    cells = [element.text for element in page.all("#facts tbody td")]
    assert [cell.replace("\u202f", " ") for cell in cells] == ["100 %", "0 %", "0 %", "100 %"]
    assert [element.text for element in page.all("#facts thead th")] == ["Hop 1", "Hop 2"]
    assert page.text("#facts-asked") == "Where is Ana? even"
    assert page.text("#facts-forgotten").startswith("1 earlier fact is forgotten")
    assert wished(page)["input"] == story
    assert page.said() == []


def test_words_stand_under_their_tags(browser: Browser, server: Pretending) -> None:
    page = show_models(browser, server, [answering("tokens", ("answer",))])
    page.find("#input").send_keys("the long day ends")
    page.press("ENTER")
    page.wait("return document.querySelectorAll('.tagged ruby').length", wanted=4)
    assert [element.text.split() for element in page.all(".tagged rt")] == [["B-NP"], ["I-NP"], ["I-NP"], ["O"]]
    assert len(page.all(".tagged .span ruby")) == 3
    assert page.find(".tagged .doubtful").get_attribute("title") == "O: 50\u202f%"
    assert not page.find("#answers").is_displayed()
    page.find("#raw").click()
    page.find("#asking button").click()
    settle(page)
    question = {"model": "parity of tokens", "inputs": ["the long day ends"]}
    assert server.questions("/v1/answer") == [question | {"raw": False}, question | {"raw": True}]
    assert page.said() == []


def test_a_refusal_is_told_and_the_next_answer_takes_its_place(browser: Browser, server: Pretending) -> None:
    server.refusals, server.refused_path = [(400, "There is no node 5.", {})], "/v1/answer"
    page = show_models(browser, server, [answering("nodes", ("answer",))], "#input=5")
    page.wait("return document.getElementById('answer-trouble').textContent", wanted="There is no node 5.")
    page.find("#asking button").click()
    page.wait("return document.getElementById('answer').textContent", wanted="odd 90\u202f%")
    assert not page.find("#answer-trouble").is_displayed()
    assert not page.find("#looking").is_displayed()

"""The served page under errors, with any text, window and user."""

import json
from urllib.parse import quote

import pytest
from chromium import Browser
from desk import TEXT, Opened, outputs, settle, type_text, wait_for_outputs
from pretend import Pretending
from scenes import HOSTILE

pytestmark = pytest.mark.browser


# When something is wrong


def test_a_refusal_is_shown_kindly_and_can_be_tried_again(opened: Opened, server: Pretending) -> None:
    server.refusals = [(413, "The text has 201 characters, and 200 are the most.", {})]
    page = opened()
    type_text(page, "the cat")
    page.wait("return document.querySelector('.translation .trouble').hidden", wanted=False)
    trouble = page.find(".translation .trouble")
    assert trouble.text == "The text has 201 characters, and 200 are the most. Try again"
    assert trouble.get_attribute("role") == "alert"
    trouble.find_element("css selector", "button").click()
    wait_for_outputs(page, "a gata")
    assert not trouble.is_displayed()


def test_a_busy_server_is_waited_for(opened: Opened, server: Pretending) -> None:
    server.refusals = [(429, "Slowdown: too many at once.", {"Retry-After": "1"})]
    page = opened()
    type_text(page, "the cat")
    page.wait("return document.querySelector('.translation .trouble').textContent.includes('Trying again in 1')")
    wait_for_outputs(page, "a gata")


def test_a_view_that_is_refused_leaves_the_translation_alone(opened: Opened, server: Pretending) -> None:
    server.refusals, server.refused_path = [(413, "These are too many weights.", {})], "/v1/attention"
    page = opened(text="the cat")
    assert page.find("#attention-trouble").text == "These are too many weights. Try again"
    assert outputs(page) == ["a gata"]
    page.find("#attention-trouble button").click()
    page.wait("return document.querySelectorAll('#rows .word').length", wanted=2)


def test_a_server_that_is_gone_is_told_as_that(opened: Opened, server: Pretending) -> None:
    page = opened()
    page.driver.execute_cdp_cmd("Network.enable", {})
    page.driver.execute_cdp_cmd(
        "Network.emulateNetworkConditions",
        {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0},
    )
    try:
        type_text(page, "the cat")
        page.wait("return document.querySelector('.translation .trouble').hidden", wanted=False)
        assert "The server does not answer." in page.text(".translation .trouble")
    finally:
        page.driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1},
        )


def test_where_a_key_is_needed_the_page_asks_for_it(opened: Opened, server: Pretending) -> None:
    server.key = "open sesame"
    page = opened()
    type_text(page, "the cat")
    page.wait("return document.querySelector('.translation .trouble').textContent.startsWith('This key is not known')")
    page.find("#key-field").send_keys("open sesame")
    page.find("#key-form button").click()
    wait_for_outputs(page, "a gata")
    page.driver.refresh()  # a tab remembers it
    wait_for_outputs(page, "a gata")
    page.run("sessionStorage.clear()")


# Any text, any window, any person


def test_what_was_typed_stays_text(opened: Opened) -> None:
    typed = " ".join(HOSTILE[:3])
    page = opened(text=typed, view="others")
    assert page.text("#mirror").strip() == typed
    assert page.find("#text").get_attribute("value") == typed
    assert "<img" in page.text(".output-text") + page.text("#n-best")
    assert page.run("return window.hacked ?? null") is None
    assert page.run("return [document.scripts.length, document.images.length]") == [2, 0]
    assert page.said() == []


FRAGMENTS = [
    f"text={quote(HOSTILE[0])}&view=__proto__&models={quote(HOSTILE[1])}&from={quote(HOSTILE[0])}&to=__proto__",
    f"text=the+cat&view=attention&mode={quote(HOSTILE[1])}&side=toString&layer=constructor&head=-1&__proto__=1",
    "text=the+cat&view=attention&mode=tokens&side=__proto__&layer=1e400&head=1.5",
    f"text=the+cat&view=next&at=-1e400&sentence=1e400&temperature={quote(HOSTILE[1])}&top_k=1e99&top_p=-1&typical=",
    "text=the+cat&view=others&n=1e99",
    "text=the+cat&view=beam&beam=-1e99&node=1e99&show=__proto__",
    *(f"text=the+cat&view=next&pick={quote(pick)}" for pick in ("[", "{}", "null", "3", '["plain","the cat",{"a":1}]')),
    f"text=the+cat&view=others&pick={quote(json.dumps(['plain', 'the cat', HOSTILE[1]]))}",
    f"text=the+cat&view=next&pick={quote(json.dumps(['plain', 'the cat', ['▁a', HOSTILE[1]]]))}",
    "%zz&%&=&&text=%ff%fe&text=the+cat",
]


def test_no_address_can_make_markup_or_break_the_page(opened: Opened) -> None:
    page = opened(anew=False)
    for fragment in FRAGMENTS:
        page.run("location.hash = arguments[0]", fragment)
        page.wait("return document.getElementById('why').hidden", wanted=False)
        settle(page)
        assert page.run("return window.hacked ?? null") is None, fragment
        assert page.run("return [document.scripts.length, document.images.length]") == [2, 0], fragment
        assert page.find("[role=tabpanel]:not([hidden])").is_displayed(), fragment
        assert page.said() == [], fragment


def test_a_choice_in_the_address_that_is_none_is_passed_over(opened: Opened, server: Pretending) -> None:
    picks = ['["plain","the cat",5]', '["plain","the cat",["▁a",7]]', '["plain","the cat",{"forced":"x"}]', '"plain"']
    page = opened(text="the cat", pick=picks)
    assert outputs(page) == ["a gata"]
    assert not page.find("#picked").is_displayed()
    assert all("forced" not in question and "before" not in question for question in server.questions("/v1/translate"))


def test_nothing_sticks_out_and_dark_is_dark(opened: Opened, browser: Browser) -> None:
    page = opened(anew=False, text=f"{'Rindfleischetikettierungsgesetz' * 3}. the cat", models=["plain", "loud"])
    for width in (1280, 320):
        browser.appear(width=width, height=740, scheme="dark")
        for view in ("attention", "next", "others", "beam"):
            page.find(f"#{view}-tab").click()
            settle(page)
            page.settle()
            assert page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert max(page.run("return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")) < 60
    assert page.said() == []


def test_everything_that_can_be_used_has_a_name(opened: Opened) -> None:
    page = opened(anew=False, text=TEXT, models=["plain", "loud"])
    names = page.names("button", "radio", "checkbox", "combobox", "textbox", "tab", "toolbar", more_than=30)
    assert all(names)
    for view in ("next", "others", "beam"):
        page.find(f"#{view}-tab").click()
        settle(page)
    ids = page.run("return [...document.querySelectorAll('[id]')].map((each) => each.id)")
    assert sorted(set(ids)) == sorted(ids)

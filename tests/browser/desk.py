"""A user's actions on the page of the server, and what the page shows."""

from collections.abc import Callable
from typing import Any

from chromium import Browser
from pretend import Pretending

Opened = Callable[..., Browser]
TEXT = "I see the house. the cat sleeps."


def show_models(browser: Browser, server: Pretending, models: list[dict[str, Any]], fragment: str = "") -> Browser:
    """Open the page of a server with these models."""
    server.models = models
    browser.open(server.address, fragment)
    browser.wait("return document.getElementById('motto').textContent.length > 0")
    return browser


def settle(page: Browser) -> None:
    """Wait until nothing is in progress."""
    page.wait("return document.querySelectorAll('[aria-busy]').length", wanted=0)


def type_text(page: Browser, text: str) -> None:
    page.find("#text").send_keys(text)


def outputs(page: Browser) -> list[str]:
    return page.run("return [...document.querySelectorAll('.output-text')].map((each) => each.textContent)")


def wait_for_outputs(page: Browser, *texts: str) -> None:
    page.wait("return [...document.querySelectorAll('.output-text')].map((each) => each.textContent)", wanted=[*texts])


def lit(page: Browser, kind: str = "lit") -> dict[str, list[str]]:
    """Return the highlighted words on each side."""
    script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)"
    sides = {"source": "#mirror", "target": ".output-text"}
    return {side: page.run(script, f"{holder} .{kind}") for side, holder in sides.items()}


def written(page: Browser, text: str) -> Any:
    (element,) = [candidate for candidate in page.all(".written") if candidate.text == text]
    return element


def wished(page: Browser) -> dict[str, str]:
    return page.run("return Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")

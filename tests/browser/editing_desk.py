"""Editing attention on a page: what is shown, listed and saved, and how a link is dragged."""

import json
from typing import Any

from chromium import Browser
from desk import settle


def shown(page: Browser) -> dict[str, str]:
    settle(page)
    return {name: page.text(f"#{name}") for name in ("unedited", "edited")}


def sentences(page: Browser) -> list[str]:
    settle(page)
    return [text.removesuffix(" ×") for text in page.run(
        "return [...document.querySelectorAll('#edit-list li')].map((each) => each.textContent)"
    )]  # fmt: skip


def saved(page: Browser) -> dict[str, Any]:
    """Return the record that the page offers as a download."""
    settle(page)
    page.run(
        "window.blobs = []; URL.createObjectURL = (blob) => { blobs.push(blob); return '#'; };"
        "HTMLAnchorElement.prototype.click = function () { blobs.at(-1).name = this.download; };"
    )
    page.find("#edits-save").click()
    name, text = page.driver.execute_async_script(
        "const done = arguments[0]; blobs.at(-1).text().then((text) => done([blobs.at(-1).name, text]));"
    )
    assert name == "regard-edits.json"
    record: dict[str, Any] = json.loads(text)
    return record


def drag(page: Browser, start: tuple[float, float], end: tuple[float, float], kind: str = "mouse") -> None:
    """Drag with the mouse, or a finger by `touch`, between two points of the window."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.actions.action_builder import ActionBuilder
    from selenium.webdriver.common.actions.pointer_input import PointerInput

    builder = ActionBuilder(page.driver, mouse=PointerInput(kind, kind), duration=0)
    builder.pointer_action.move_to_location(*map(round, start)).pointer_down()
    for share in (0.3, 0.7, 1.0):
        at = [round(first + (last - first) * share) for first, last in zip(start, end, strict=True)]
        builder.pointer_action.move_to_location(*at)
    builder.pointer_action.pointer_up()
    builder.perform()
    ActionChains(page.driver).reset_actions()


def middle(page: Browser, selector: str, place: int = 0) -> tuple[float, float]:
    x, y = page.run(
        "const box = document.querySelectorAll(arguments[0])[arguments[1]].getBoundingClientRect();"
        "return [box.left + box.width / 2, box.top + box.height / 2]",
        selector,
        place,
    )
    return x, y


def words(page: Browser, line: str) -> list[str]:
    return page.run("return [...document.getElementById(arguments[0]).children].map((each) => each.textContent)", line)

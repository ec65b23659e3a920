"""A real browser for page tests: the system's Chromium, driven through its own driver."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

# A script is retried until it returns the expected value, for up to ten seconds.
_WAITING = """
const given = [...arguments], done = given.pop(), wanted = JSON.stringify(given.pop());
const end = performance.now() + 10_000;
const look = function () { %s };
const tried = () => { try { return look(...given) ?? null } catch { return null } };
const poll = () => {
  const found = tried();
  if (JSON.stringify(found) === wanted || performance.now() > end) done(found);
  else setTimeout(poll, 5);
};
poll();
"""
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser() -> tuple[str, str] | None:
    """Return the browser and its driver. The driver is never downloaded: no test uses the network."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    driver = shutil.which("chromedriver")
    return (browser, driver) if browser and driver else None


def browser_or_skip() -> tuple[str, str]:
    """Return the browser and its driver; where there are none, skip the test, or fail it if they are required."""
    if (browser := find_browser()) is not None:
        return browser
    missing = "browser tests not run: there is no Chromium with its chromedriver here"
    if os.environ.get("REGARD_BROWSER") == "required":
        pytest.fail(f"{missing} (on Debian: apt-get install chromium chromium-driver)")
    pytest.skip(missing)


def start_browser(browser: str, driver: str) -> "Browser":
    """Start a browser without a window."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = browser
    # As root, and with a container's small shared memory, Chromium needs these flags to start.
    for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run"):
        options.add_argument(flag)
    # One process shows all pages: starting one per address, and a spare one, takes a tenth of the time.
    options.add_argument("--renderer-process-limit=1")
    options.add_argument("--disable-site-isolation-trials")
    options.add_argument("--disable-features=SpareRendererForSitePerProcess")
    options.add_argument("--app=data:,")  # without window bars, which are redrawn for every address
    options.add_experimental_option("perfLoggingPrefs", {"enablePage": False})  # requests are reported anyway
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return Browser(webdriver.Chrome(options, Service(driver)))


class Browser:
    """One tab with the few operations that tests need."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, place: Path | str, fragment: str = "") -> None:
        """Open a file or an address afresh, and clear the console and request logs."""
        address, before = place if isinstance(place, str) else place.as_uri(), self.driver.current_url
        if not before.startswith("file:") or before.startswith(address):
            self.driver.get(
                "about:blank"
            )  # a page of a server could ask and say more, and a fragment alone loads nothing
        self.said(), self.requests()
        self.driver.get(address + fragment)

    def lead(self, fragment: str) -> None:
        """Change the fragment of the open page, and clear the console and request logs."""
        self.said(), self.requests()
        self.run("location.hash = arguments[0]", fragment)

    def appear(self, width: int = 1280, height: int = 900, scheme: str = "light") -> None:
        """Set the window size and the preference for light or dark."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)

    def said(self) -> list[str]:
        """Return the console messages since the last call."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Return the addresses requested since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
        return [event["request"]["url"] for event in sent]

    def names(self, *roles: str, more_than: int) -> list[str]:
        """Return the accessible names of these roles; Chromium builds that tree shortly after the page."""
        from selenium.webdriver.support.wait import WebDriverWait

        def found(driver: Any) -> list[str] | None:
            nodes = driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
            things = [node for node in nodes if node.get("role", {}).get("value") in roles]
            return [thing.get("name", {}).get("value", "") for thing in things] if len(things) > more_than else None

        self.driver.execute_cdp_cmd("Accessibility.enable", {})
        names: list[str] = WebDriverWait(self.driver, 20).until(found)
        self.driver.execute_cdp_cmd("Accessibility.disable", {})  # otherwise that tree is built for all later pages too
        return names

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.driver.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return self.driver.find_elements("css selector", selector)

    def text(self, selector: str) -> str:
        """Return all the text inside, visible or not."""
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def point(self, thing: Any, right: int = 0, down: int = 0) -> None:
        """Move the pointer to the middle of an element, or a few pixels away from it."""
        from selenium.webdriver import ActionChains

        self.run("arguments[0].scrollIntoView({ block: 'center' })", thing)
        ActionChains(self.driver, duration=0).move_to_element_with_offset(thing, right, down).perform()

    def settle(self) -> None:
        """Wait until the page has been drawn twice, so that it has reacted to its new size or colours."""
        self.driver.execute_async_script("requestAnimationFrame(() => requestAnimationFrame(arguments[0]))")

    def wait(self, script: str, *arguments: Any, wanted: Any = True) -> None:
        """Wait until a script returns the expected value; report the last value if it never does.

        The page polls every few milliseconds, so one call suffices without sleeping. An element that does not exist yet
        gives nothing.
        """
        value = self.driver.execute_async_script(_WAITING % script, *arguments, wanted)
        assert value == wanted, f"{script} gave {value!r}, not {wanted!r}"

    def press(self, *keys: str) -> None:
        """Press keys by their names or characters, on the element with the focus."""
        from selenium.webdriver import ActionChains
        from selenium.webdriver.common.keys import Keys

        chain = ActionChains(self.driver, duration=0)
        for key in keys:
            chain.send_keys(getattr(Keys, key, key))
        chain.perform()

    def focused(self) -> Mapping[str, str]:
        """Return the focus: the element's text, its class, and the id of its container."""
        return self.run(
            "const at = document.activeElement;"
            "return { text: at.textContent, class: at.className, id: at.id, holder: at.parentElement.id }"
        )

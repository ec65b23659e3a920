"""Writes the screenshots of docs/pictures: `.venv/bin/python docs/make_screenshots.py [MODEL]`, by default runs/demo.

It serves the model on loopback, opens the page and a page of `regard look` in a Chromium without a window, and takes
pictures of the main views. `make screenshots` trains the demo first, if it is not there. With `--writers` some language
models, side by side, with `--words` word vectors, and with `--onefile` the page of `regard export --to html` are
pictured in place of that.
"""

import argparse
import base64
import io
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlencode

from PIL import Image

if TYPE_CHECKING:
    from chromium import Browser  # of the tests in tests/browser

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
TEXT = "Ana doesn't eat the green apples. How many delicious cakes did he eat?"
APPLES = "Ana doesn't eat the green apples."
FILMED = "I see the red house."
GIRLS = "The girls do not eat the green apples."
EDITED = {"text": GIRLS, "view": "attention", "side": "decoder", "layer": "1", "head": "3"}
COLOURS = 192  # of a picture; so few keep the files small


@dataclass(frozen=True)
class Picture:
    """One picture: what the page shows, in what kind of window, and down to which part of it."""

    name: str
    fragment: dict[str, str]
    last: str
    pointed: str = ""  # a word of the translation
    pressed: tuple[str, ...] = ()  # buttons, one after another
    width: int = 1100
    scheme: Literal["light", "dark"] = "light"


SERVED = (
    Picture("serve", {"text": TEXT}, "#pictures", pointed="maçãs"),
    Picture("serve-next", {"text": TEXT, "view": "next", "sentence": "2", "at": "4", "top_p": "0.9"}, "#next-view"),
    Picture("serve-others", {"text": TEXT, "view": "others", "sentence": "2"}, "#others-view"),
    Picture("serve-beam", {"text": "Were the bridges long?", "view": "beam"}, "#beam-view", scheme="dark"),
    Picture("serve-edit", EDITED, "#links-part", pressed=("#editing summary", ".head-switch[data-head='3']")),
    Picture("serve-phone", {"text": APPLES}, "#links-part", pointed="verdes", width=390),
)
WRITING = {"tab": "generate", "prompt": "ROMEO:\nI will not", "tokens": "80", "temperature": "0.8", "seed": "3"}
WRITTEN = (
    Picture("serve-write", WRITING, "#writers", pressed=("#go-on",), width=1280),
    Picture("serve-write-phone", WRITING, ".writer", pressed=("#go-on",), width=390, scheme="dark"),
)
WORDS = (Picture("serve-words", {"tab": "neighbours", "word": "company", "map": "frequent"}, "#map-part"),)
ONEFILE = (
    Picture("onefile", {"text": TEXT.replace(". ", ".\n")}, "#links-part", pointed="maçãs"),
    Picture("onefile-phone", {"text": APPLES}, "#links-part", pointed="verdes", width=390, scheme="dark"),
)
LOOKED = Picture("page", {"head": "mean"}, "#pictures", pointed="maçãs")


@contextmanager
def served(*models: Path) -> Iterator[str]:
    """The address of a server for as long as it is wanted."""
    command = [sys.executable, "-m", "regard", "serve", *map(str, models), "--port", "0", "--quiet"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        said = ""
        for line in process.stderr:
            said += line
            if found := re.search(r"http://\S+", line):
                yield found[0]
                return
        sys.exit(f"The server did not start:\n{said}")
    finally:
        process.terminate()
        process.wait(60)


def take(browser: "Browser", address: str, picture: Picture) -> None:
    """Open the page, wait until it is at rest, point where that is asked for, and keep what is seen."""
    browser.appear(picture.width, 900, picture.scheme)
    browser.open(address, f"#{urlencode(picture.fragment)}")
    browser.wait("return Boolean(document.querySelector(arguments[0])?.offsetHeight)", picture.last)
    browser.wait("return document.querySelectorAll('[aria-busy]').length", wanted=0)
    for button in picture.pressed:
        browser.find(button).click()
        browser.wait("return document.querySelectorAll('[aria-busy]').length", wanted=0)
    browser.run("document.activeElement.blur()")
    if picture.pointed:
        words = [word for word in browser.all(".written, #rows .word") if word.text == picture.pointed]
        browser.point(words[0])
    browser.settle()
    image = seen(browser, picture.width, picture.last).quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(PICTURES / f"{picture.name}.png", optimize=True)


def seen(browser: "Browser", width: int, last: str, first: str = "html") -> Image.Image:
    """Return a picture of the page as it is, from one of its parts down to another."""
    edge = "return document.querySelector(arguments[0]).getBoundingClientRect()[arguments[1]] + scrollY"
    top = max(browser.run(edge, first, "top") - 12, 0)
    height = browser.run(edge, last, "bottom") + 12 - top
    clip = {"x": 0, "y": top, "width": width, "height": height, "scale": 1}
    options = {"captureBeyondViewport": True, "clip": clip}
    content = browser.driver.execute_cdp_cmd("Page.captureScreenshot", options)["data"]
    return Image.open(io.BytesIO(base64.b64decode(content))).convert("RGB")


def film(browser: "Browser", address: str) -> None:
    """Point at one word of a translation after the other, and keep what is seen as one moving picture."""
    browser.appear(920, 1300, "light")
    browser.open(address, f"#{urlencode({'text': FILMED})}")
    browser.wait("return document.querySelectorAll('#rows .word').length > 3")
    browser.wait("return document.querySelectorAll('[aria-busy]').length", wanted=0)
    browser.run("document.activeElement.blur()")
    frames = []
    for word in browser.all("#rows .word"):
        browser.point(word)
        browser.settle()
        frames.append(seen(browser, 920, "#links-part", "#sides").quantize(64, dither=Image.Dither.NONE))
    frames[0].save(PICTURES / "page.gif", save_all=True, append_images=frames[1:], duration=1000, loop=0, optimize=True)


def main(model: Path, writers: Sequence[Path], words: Path | None, in_one_file: bool) -> None:
    """All pictures of a translator; or those of other models, where such are given."""
    sys.path.insert(0, str(ROOT / "tests" / "browser"))
    from chromium import find_browser, start_browser

    found = find_browser()
    if found is None:
        sys.exit("There is no Chromium with its driver here (on Debian: apt-get install chromium chromium-driver).")
    browser = start_browser(*found)
    others = [(writers, WRITTEN), ([words] if words else [], WORDS)]
    try:
        if in_one_file:
            take_onefile(browser, model)
        elif not any(models for models, _ in others):
            take_look(browser, model)
            others = [([model], SERVED)]
        for models, pictures in others:
            if not models:
                continue
            with served(*models) as address:
                for picture in pictures:
                    take(browser, f"{address}/", picture)
                if models == [model]:
                    film(browser, f"{address}/")
    finally:
        browser.driver.quit()


def take_look(browser: "Browser", model: Path) -> None:
    """The page of `regard look`."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "apples.html"
        subprocess.run(
            [sys.executable, "-m", "regard", "look", str(model), "--text", APPLES, "-o", str(page)], check=True
        )
        take(browser, page.as_uri(), LOOKED)


def take_onefile(browser: "Browser", model: Path) -> None:
    """The page of `regard export --to html`."""
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "demo.html"
        command = [sys.executable, "-m", "regard", "export", str(model), "--to", "html", "-o", str(page)]
        subprocess.run(command, check=True)
        for picture in ONEFILE:
            take(browser, page.as_uri(), picture)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the screenshots of docs/pictures.")
    parser.add_argument("model", nargs="?", type=Path, default=ROOT / "runs" / "demo", help="a translator")
    parser.add_argument("--writers", nargs="+", type=Path, default=[], help="language models")
    parser.add_argument("--words", type=Path, help="a model with word vectors")
    parser.add_argument("--onefile", action="store_true", help="the page of the translator in one file")
    given = parser.parse_args()
    main(given.model, given.writers, given.words, given.onefile)

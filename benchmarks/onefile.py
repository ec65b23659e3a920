"""A one-file page in a browser beside `--engine onnx` with int8: size, milliseconds a sentence, outputs that differ.

The page is opened from disk in Chromium, or in Firefox. Sentences are the demo's test data, or the lines of a file;
their outputs are compared as texts, and the time is that of the page's own `translate`, from text to text with
attention and beam. Time of CPU is that of the page's tasks in Chromium, and that of all processes in Firefox.
"""

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from regard.data.demo.corpus import pairs
from regard.engines.onnx.engine import load_engine

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "browser"))  # its driver of a browser

_READY = "return !document.getElementById('desk').hidden || !document.getElementById('trouble').hidden"
_TRANSLATE = """
const [texts, done] = arguments;
(async () => {
  const found = [];
  for (const text of texts) {
    const began = performance.now();
    const output = await translate(text);
    found.push([output?.text ?? "", performance.now() - began]);
  }
  done(found);
})();
"""
_AT_ONCE, _WARM = 50, 30  # sentences in one call, and those before the clock starts, while the browser compiles
_FEW = 5  # sentences in one call in Firefox, whose answer comes within a minute


Rows = list[tuple[str, float]]  # outputs and their milliseconds


def in_chromium(page: Path, texts: list[str]) -> tuple[Rows, float]:
    """Return the output of each text in the page and its milliseconds, and the page's mean milliseconds of CPU."""
    from chromium import find_browser, start_browser

    if (found := find_browser()) is None:
        sys.exit("There is no Chromium with its driver here (on Debian: apt-get install chromium chromium-driver).")
    browser = start_browser(*found)
    try:
        browser.driver.set_script_timeout(600)
        browser.open(page.resolve())
        browser.wait(_READY)
        browser.driver.execute_async_script(_TRANSLATE, texts[:_WARM])
        parts = [texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE)]
        browser.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        before = _busy_seconds(browser)
        rows = [tuple(row) for part in parts for row in browser.driver.execute_async_script(_TRANSLATE, part)]
        return rows, (_busy_seconds(browser) - before) / len(texts) * 1000
    finally:
        browser.driver.quit()


def in_firefox(page: Path, texts: list[str]) -> tuple[Rows, float]:
    """Return the output of each text in the page and its milliseconds, and the mean milliseconds of CPU."""
    from marionette import firefox_or_skip

    with tempfile.TemporaryDirectory() as folder, firefox_or_skip(Path(folder) / "profile") as firefox:
        firefox.ask("WebDriver:SetTimeouts", {"script": 600_000})
        firefox.open(page.resolve())
        firefox.wait(_READY)

        def translate(some: list[str]) -> Rows:
            rows = firefox.ask("WebDriver:ExecuteAsyncScript", {"script": _TRANSLATE, "args": [some]})["value"]
            return [(text, milliseconds) for text, milliseconds in rows]

        for text in texts[:_WARM]:
            translate([text])
        before = _children_seconds(os.getpid())
        rows = [row for start in range(0, len(texts), _FEW) for row in translate(texts[start : start + _FEW])]
        return rows, (_children_seconds(os.getpid()) - before) / len(texts) * 1000


def _children_seconds(parent: int) -> float:
    """Return the seconds of CPU that the processes started by a process have taken so far."""
    parents, ticks = dict[int, int](), dict[int, int]()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        parents[int(stat.parent.name)], ticks[int(stat.parent.name)] = int(fields[1]), int(fields[11]) + int(fields[12])

    def belongs(process: int) -> bool:
        above = parents.get(process, 0)
        return above == parent or (above > 1 and belongs(above))

    return sum(time for process, time in ticks.items() if belongs(process)) / os.sysconf("SC_CLK_TCK")


def _busy_seconds(browser: Any) -> float:
    """Return the seconds of CPU that tasks of the page have taken."""
    metrics = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


BROWSERS = {"chromium": in_chromium, "firefox": in_firefox}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="a model folder with an export `--to onnx --quantisation int8`")
    parser.add_argument("page", type=Path, help="the page of `regard export MODEL --to html`")
    parser.add_argument("--text", type=Path, help="a file of sentences instead of the demo's test data")
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--browser", choices=BROWSERS, default="chromium")
    given = parser.parse_args()
    lines = given.text.read_text().splitlines() if given.text else [pair[0] for pair in pairs("test")]
    texts = lines[: given.sentences]
    engine = load_engine(given.model, workers=1)
    expected = [output.text for output in engine.translations(texts, engine.decoding)]
    found, busy = BROWSERS[given.browser](given.page, texts)
    different = [place for place, (text, _) in enumerate(found) if text != expected[place]]
    times = sorted(milliseconds for _, milliseconds in found)
    print(f"size      {given.page.stat().st_size / 1e6:.1f} MB")
    late = times[len(times) * 19 // 20]
    print(f"time      median {statistics.median(times):.1f} ms a sentence, 95% below {late:.1f}; {busy:.1f} ms of CPU")
    print(f"outputs   {len(texts) - len(different)} of {len(texts)} are those of onnxruntime")
    for place in different[:5]:
        print(f"  {texts[place]!r}: {found[place][0]!r} instead of {expected[place]!r}")


if __name__ == "__main__":
    main()

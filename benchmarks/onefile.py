"""A one-file page in Chromium beside `--engine onnx` with int8: size, milliseconds a sentence, outputs that differ.

The page is opened from disk. Sentences are the demo's test data, or the lines of a file; their outputs are compared as
texts, and the time is that of the page's own `translate`, from text to text with attention and beam.
"""

import argparse
import statistics
import sys
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


def in_browser(page: Path, texts: list[str]) -> tuple[list[tuple[str, float]], float]:
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


def _busy_seconds(browser: Any) -> float:
    """Return the seconds of CPU that tasks of the page have taken."""
    metrics = browser.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path, help="a model folder with an export `--to onnx --quantisation int8`")
    parser.add_argument("page", type=Path, help="the page of `regard export MODEL --to html`")
    parser.add_argument("--text", type=Path, help="a file of sentences instead of the demo's test data")
    parser.add_argument("--sentences", type=int, default=1000)
    given = parser.parse_args()
    lines = given.text.read_text().splitlines() if given.text else [pair[0] for pair in pairs("test")]
    texts = lines[: given.sentences]
    engine = load_engine(given.model, workers=1)
    expected = [output.text for output in engine.translations(texts, engine.decoding)]
    found, busy = in_browser(given.page, texts)
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

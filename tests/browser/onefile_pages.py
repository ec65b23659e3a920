"""One-file pages for browser tests; nothing is fetched for them."""

import os
from pathlib import Path

import pytest

from regard.engines.shortlist import Shortlist
from regard.loading import Loaded
from regard.onefile.export import export_html
from regard.onefile.runtime import VARIABLE, cache_folder, is_there


def write_onefile(
    model: Loaded, folder: Path, places: pytest.TempPathFactory, shortlist: Shortlist | None = None
) -> Path:
    """Write the page of a model; skip where the runtime is not at hand."""
    if not os.environ.get(VARIABLE) and not is_there(cache_folder()):
        pytest.skip(f"one-file pages not opened: {VARIABLE} names no npm package onnxruntime-web, and none is cached")
    place = places.mktemp("one file") / "page.html"
    export_html(model, folder, place, shortlist=shortlist)
    return place

"""Properties of every way to translate lines: here, constant memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from regard.verbs.translate.line_translator import open_translator
from regard.verbs.translate.request import TranslateRequest

# Convolutions go through oneDNN on every processor; the last one repeats the first, after 300 others.
OPERATIONS = """
import sys
from pathlib import Path
from regard.verbs.translate.line_translator import open_translator
from regard.verbs.translate.request import TranslateRequest

open_translator(Path(sys.argv[1]), TranslateRequest(text=["I love books."], engine="torch"), "float32")

import torch
weights = torch.ones(4, 4, 3, 3)
for width in (*range(3, 304), 3):
    torch.conv2d(torch.ones(2, 4, 3, width), weights)
"""


@pytest.mark.long
def test_a_stream_keeps_few_compiled_operations(trained: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if "PRIMITIVE_CACHE" not in name}
    environment |= {"ONEDNN_VERBOSE": "profile_create"}
    process = subprocess.run(
        [sys.executable, "-c", OPERATIONS, str(trained)], env=environment, capture_output=True, text=True, check=True
    ).stdout
    convolutions = [line for line in process.splitlines() if ",convolution," in line and ",create:" in line]
    assert len(convolutions) == 302
    assert all("create:cache_miss" in line for line in convolutions)


def test_who_chose_how_many_keeps_as_many(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "2048")
    open_translator(trained, TranslateRequest(text=["I love books."], engine="torch"), "float32")
    assert os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"] == "2048"

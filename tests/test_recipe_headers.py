"""The headers of recipes for word vectors: the numbers of the ledger."""

import re
from pathlib import Path

import pytest

from regard.runs.recipes import recipe_text

LEDGER = (Path(__file__).parent.parent / "docs" / "ledger.md").read_text(encoding="utf-8")
FAMILIES = ("word2vec", "glove", "fasttext")
NAMES = [f"{family}-{language}" for family in FAMILIES for language in ("english", "portuguese")]
MEASURED = re.compile(r"([\d.]+) ± ([\d.]+) / ([\d.]+) ± [\d.]+ / ([\d.]+) ± [\d.]+")


def ledger_numbers(name: str) -> tuple[str, ...]:
    """Return what the ledger says of a recipe: share of analogies, its spread, and two correlations in percent."""
    (row,) = (line for line in LEDGER.splitlines() if line.startswith("| ") and f"`{name}`" in line.split("|")[1])
    cells = row.split("|")
    place = re.findall(r"`([\w-]+)`", cells[1]).index(name)  # a row of two recipes has their numbers in this order
    return MEASURED.findall(cells[4])[place]


@pytest.mark.parametrize("name", NAMES)
def test_a_header_promises_what_the_ledger_says(name: str) -> None:
    share, spread, *correlations = ledger_numbers(name)
    comments = [line for line in recipe_text(name).splitlines() if line.startswith("#")]
    header = " ".join(line.removeprefix("# ") for line in comments)
    assert f"Expect {share} ± {spread} % of" in header
    found = re.search(r"correlations of ([\d.]+) \(.*?\) and ([\d.]+) \(", header)
    assert found
    assert list(found.groups()) == [f"{float(correlation) / 100:.2f}" for correlation in correlations]

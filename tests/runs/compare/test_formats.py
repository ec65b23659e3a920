"""A comparison as LaTeX, CSV, Markdown and JSON, and in a notebook."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.runs.compare.formats import FORMATS, as_csv, as_latex, escape_latex
from regard.runs.compare.page import page
from regard.runs.compare.report import Comparison

HOSTILE = r"south_юг 50% & {a} #1 $x$ ~^ \input <b>"


@pytest.fixture
def hostile(comparison: Comparison) -> Comparison:
    """Return a comparison whose second variant's name is full of LaTeX and HTML syntax."""
    first, second = comparison.variants
    return replace(comparison, variants=[first, replace(second, variant=HOSTILE)])


def test_latex_on_paper() -> None:
    assert escape_latex("model_norm 50% & #1") == r"model\_norm 50\% \& \#1"
    assert escape_latex(r"a\b{c}") == r"a\textbackslash{}b\{c\}"
    assert escape_latex("33.3 ± 0.5, p < 0.001 – юг") == r"33.3 $\pm$ 0.5, p $<$ 0.001 -- юг"


def test_latex_is_a_tabular_that_needs_no_package(hostile: Comparison) -> None:
    lines = as_latex(hostile).splitlines()
    comments = [line for line in lines if line.startswith("%")]
    begin, top, head, rule, first, second, bottom, end = lines[len(comments) :]
    assert comments[0] == "% small: model.norm"
    assert any("approximate randomisation" in line for line in comments)
    assert (begin, end, top, rule, bottom) == (r"\begin{tabular}{lrlrr}", r"\end{tabular}", *[r"\hline"] * 3)
    assert head == r"model.norm & exact & against the first & parameters & tokens/s \\"
    assert first == r"before & 33.33 $\pm$ 0.00 & -- & 1,000 & 50 \\"
    name = r"south\_юг 50\% \& \{a\} \#1 \$x\$ \textasciitilde{}\textasciicircum{} \textbackslash{}input $<$b$>$"
    assert second.startswith(f"{name} & 83.33 $\\pm$ 0.00 & +50.00, p = 0.12")
    for row in (head, first, second):  # every special character is escaped, and all rows have equally many cells
        assert len(re.findall(r"(?<!\\)&", row)) == 4
        assert not re.search(r"(?<!\\)[%#_]", row)


def test_a_loss_has_a_minus_sign(comparison: Comparison) -> None:
    turned = replace(comparison, variants=comparison.variants[::-1])
    measure = replace(comparison.variants[0].measures[0], difference=-50.0)
    turned = replace(turned, variants=[turned.variants[0], replace(comparison.variants[0], measures=[measure])])
    assert "& $-$50.00 &" in as_latex(turned)


def test_csv_has_every_number_unrounded(hostile: Comparison) -> None:
    first, second = csv.DictReader(io.StringIO(as_csv(hostile)))
    assert (first["variant"], second["variant"]) == ("before", HOSTILE)
    assert (first["difference"], first["p"], first["within_spread"]) == ("", "", "")
    assert (second["metric"], second["seeds"], second["parameters"]) == ("exact", "2", "1000")
    assert float(second["mean"]) == 500 / 6
    assert float(second["difference"]) == pytest.approx(50)
    assert 0.1 < float(second["p"]) < 0.15
    assert float(second["low"]) <= float(second["difference"]) <= float(second["high"])


def test_rows_and_table_are_the_same_comparison(comparison: Comparison) -> None:
    columns, rows = comparison.table
    assert columns[0] == "model.norm"
    assert [row[0] for row in rows] == [row["variant"] for row in comparison.rows] == ["before", "after"]
    assert repr(comparison).splitlines()[0] == "small: model.norm"
    assert "83.33 ± 0.00" in repr(comparison)


def test_a_notebook_shows_the_table_and_escapes_it(hostile: Comparison) -> None:
    shown = hostile._repr_html_()
    assert "83.33 ± 0.00" in shown
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert "Scored on 6 sentences of the split test." in shown


@pytest.mark.parametrize("suffix", FORMATS)
def test_a_file_is_written_as_its_suffix_says_and_once(comparison: Comparison, tmp_path: Path, suffix: str) -> None:
    file = comparison.save(tmp_path / f"table{suffix}")
    text = file.read_text(encoding="utf-8")
    assert text == FORMATS[suffix](comparison)
    assert text.endswith("\n")
    with pytest.raises(Fault, match="already exists; give overwrite=True to replace it"):
        comparison.save(file)
    assert comparison.save(str(file), overwrite=True) == file
    if suffix == ".json":
        assert json.loads(text)["variants"][1]["name"] == "after"
    if suffix == ".md":
        assert text == page(comparison)


def test_other_suffixes_are_refused(comparison: Comparison, tmp_path: Path) -> None:
    with pytest.raises(Fault, match=r"table.xlsx is neither \.md, \.tex, \.csv nor \.json; the suffix chooses the"):
        comparison.save(tmp_path / "table.xlsx")
    assert not (tmp_path / "table.xlsx").exists()

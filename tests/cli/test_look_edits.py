"""`regard look --zero-head` and `--edit`, `edits=` in Python, and translating and continuing under edits."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from small import undrawn
from toys import open_trained_toy

import regard
from regard.cli import main
from regard.seeing.edited import view_edited
from regard.viewing.view import Edited, View

sys.path.insert(0, str(Path(__file__).parents[1] / "viewing"))
from pages import page_data

TEXT = "Ana sees the red house."
STRONG = [regard.Edit(at=f"cross.{block}", do="force", keys=[0]) for block in (1, 2)]


@pytest.fixture(scope="module")
def model(trained: Path) -> regard.Model:
    return regard.load(trained, device="cpu")


@pytest.fixture(scope="module")
def gpt(tmp_path_factory: pytest.TempPathFactory) -> regard.Model:
    run = open_trained_toy("gpt", tmp_path_factory.mktemp("gpt"))
    return regard.load(run.folder.folder, device="cpu")


def test_heads_are_switched_off_and_the_record_is_replayed(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["look", str(trained), TEXT, "--zero-head", "1.1", "--zero-head", "encoder.1.2"]
    record, first, again = (str(tmp_path / name) for name in ("edits.json", "first.json", "again.json"))
    assert main([*asked, "--save-edit", record, "-o", first]) == 0
    assert main(["look", str(trained), TEXT, "--edit", record, "-o", again]) == 0
    report = json.loads(Path(first).read_text(encoding="utf-8"))
    assert report == json.loads(Path(again).read_text(encoding="utf-8"))
    assert [edit["at"] for edit in report["edits"]["edits"]] == ["cross.1.1", "encoder.1.2"]
    assert report["edits"]["model"] == regard.load(trained).fingerprint
    printed = capsys.readouterr().err
    assert "cross.1.1: the head's output is zero." in printed
    assert "edited → " in printed
    assert main([*asked, "--save-edit", record, "--overwrite"]) == 0
    for suffix in ("png", "svg", "html"):
        assert main([*asked, "-o", str(tmp_path / f"look.{suffix}")]) == 0
    edits = [f"{at}: the head's output is zero." for at in ("cross.1.1", "encoder.1.2")]
    edited = page_data(tmp_path / "look.html")["edits_made"]
    assert [regard.Edit(**edit).describe() for edit in edited["edits"]] == edits
    assert edited["unedited"] == report["unedited"]
    picture = (tmp_path / "look.svg").read_text(encoding="utf-8")
    for line in (*(f"Edited: {edit}" for edit in edits), f"Without edits: {report['unedited']}"):
        assert escape(line) in picture
    assert main(["look", str(trained), TEXT, "-o", str(tmp_path / "plain.svg")]) == 0
    assert "dited" not in (tmp_path / "plain.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--zero-head", "cross.9.1"], "no attention 'cross.9.1'"),
        (["--zero-head", "1.9"], "no head 9 in 'cross.1'; it has"),
        (["--zero-head", "first"], "must name a block and a head"),
        (["--zero-head", "1.1", "--beam"], "omit it with --beam"),
        (["--save-edit", "x.json"], "none is given"),
        (["--edit", "missing.json"], "There is no missing.json"),
    ],
)
def test_bad_edits_are_refused_in_one_sentence(
    trained: Path, options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["look", str(trained), TEXT, *options]) == 2
    printed = capsys.readouterr().err
    assert sentence in printed
    assert len(printed.strip().splitlines()) == 1


def test_a_record_of_another_model_is_refused(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "edits.json"
    regard.Edits(model="0" * 64, edits=STRONG).save(record)
    assert main(["look", str(trained), TEXT, "--edit", str(record)]) == 2
    assert "belongs to another model" in capsys.readouterr().err


def test_a_place_that_the_sentence_does_not_have_is_refused(model: regard.Model) -> None:
    with pytest.raises(regard.Fault, match="never reached key 99"):
        model.look(TEXT, edits=regard.Edit(at="cross.1", do="zero", keys=[99]))


def test_python_shows_edited_attention_and_both_outputs(model: regard.Model) -> None:
    plain, view = model.look(TEXT, tokens=True), model.look(TEXT, tokens=True, edits=STRONG)
    edited = view.numbers()
    assert edited["unedited"] == plain.numbers()["output"]
    assert edited["output"] != edited["unedited"]
    assert f"edited → {edited['output']}" in view.heading
    assert [row[0] for row in edited["matrices"][0]["weights"]] == [1.0] * len(edited["matrices"][0]["rows"])
    assert model.look(TEXT, edits=[]).numbers() == model.look(TEXT).numbers()


@pytest.mark.long
def test_translations_change_inside_the_block_only(model: regard.Model) -> None:
    texts = [TEXT, "Ana reads."]
    for search in ({"beam": 1}, {"beam": 4}, {"sample": {"temperature": 1.0, "seed": 3}}):
        plain = [each.text for each in model.translate(texts, **search)]
        with regard.editing(model, []):
            assert [each.text for each in model.translate(texts, **search)] == plain
        with regard.editing(model, STRONG):
            edited = [each.text for each in model.translate(texts, **search)]
        assert edited != plain
        assert [each.text for each in model.translate(texts, **search)] == plain


def test_an_edit_of_one_word_changes_nothing_before_it(model: regard.Model) -> None:
    """The search is edited at the same place as the pass over its output: token 2 is the first that may differ."""
    edit = regard.Edit(at="cross.2", do="force", keys=[0], queries=[2])
    plain = model.translate([TEXT], beam=1)[0].tokens
    with regard.editing(model, edit), regard.watching(model, "decoder.1.cross") as gazes:
        edited = model.translate([TEXT], beam=1)[0].tokens
    assert edited[:2] == plain[:2]
    assert (gazes[0].weights[0, :, 2, 0] == 1).all()
    assert not (gazes[0].weights[0, :, 1, 0] == 1).any()


def test_a_language_model_continues_under_edits(gpt: regard.Model) -> None:
    prompt, ask = "the", {"tokens": 8, "sample": {"temperature": 1.0, "seed": 5}, "past_end": True}
    plain = gpt.generate([prompt], **ask)
    with regard.editing(gpt, []):
        assert gpt.generate([prompt], **ask) == plain
    with regard.editing(gpt, regard.Edit(at="blocks.0", part="output", do="scale", by=-3.0)):
        assert gpt.generate([prompt], **ask) != plain
    view = gpt.look(prompt, edits=regard.Edit(at="1.1", part="head", do="zero"))
    assert "1.1: the head's output is zero." in view.heading
    assert view.edited is not None
    assert view.edited.unedited == gpt.look(prompt).numbers()["output"]


def test_a_model_that_only_reads_has_no_output_without_edits(gpt: regard.Model) -> None:
    edits = regard.Edits(edits=[regard.Edit(at="1.1", part="head", do="zero")])

    def only_read() -> View:
        return replace(gpt.look("the"), about={"output": ""})

    view = view_edited(gpt, edits, only_read)
    assert view.edited is not None
    assert view.edited.notes == ["Edited: 1.1: the head's output is zero."]
    assert "edited →" not in view.heading


def test_a_masked_model_answers_under_edits(tmp_path: Path) -> None:
    with undrawn():
        bert = regard.load(open_trained_toy("bert", tmp_path).folder.folder, device="cpu")
    edit = regard.Edit(at="1.1", part="head", do="zero")
    view = bert.look("the [MASK] or the service", edits=edit)
    assert view.numbers()["unedited"]
    with regard.editing(bert, edit):
        assert bert.answer(["the [MASK] or the service"])


def test_exports_refuse_edits(model: regard.Model) -> None:
    with (
        pytest.raises(regard.Fault, match="CTranslate2 does not run the model's modules"),
        regard.editing(model, STRONG),
    ):
        model.translate([TEXT], engine="ctranslate2")


def test_a_picture_names_the_first_edits_and_counts_the_others() -> None:
    notes = Edited([regard.Edit(at=f"cross.{number}", part="head", do="zero") for number in range(10)], "Eu").notes
    assert notes[:2] == [f"Edited: cross.{number}: the head's output is zero." for number in (0, 1)]
    assert notes[7:] == ["Edited: cross.7: the head's output is zero.", "And 2 further edits.", "Without edits: Eu"]

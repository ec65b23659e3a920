"""Options have the same effect in Python and on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from toys import open_trained_toy

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.model import make_model

TEXTS = ["I see the red house. Ana sleeps. Ana sees the house.", "Ana sleeps."]
Options = dict[str, Any]


@pytest.fixture(scope="module")
def model(trained: Path) -> regard.Model:
    return regard.load(trained)


def printed(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[Any]:
    assert main([str(argument) for argument in arguments]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ({"split_sentences": True}, ["--split-sentences"]),
        ({"too_long": "truncate"}, ["--too-long", "truncate"]),
        ({"too_long": "split", "n_best": 2}, ["--too-long", "split", "--n-best", "2"]),
        ({"search": {"unrepeated": 1, "longest_extra": 1}}, ["--set", "unrepeated=1", "--set", "longest_extra=1"]),
        ({"mbr": "chrf", "samples": 3}, ["--mbr", "chrf", "--samples", "3"]),
        ({"mbr": "chrf", "sample": {"seed": 5}, "engine": "auto"}, ["--mbr", "chrf", "--seed", "5"]),
    ],
    ids=str,
)
def test_a_text_is_translated_alike(
    model: regard.Model, options: Options, arguments: list[str], trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (typed,) = printed(capsys, "translate", trained, "--text", TEXTS[0], *arguments, "--json")
    (translation,) = model.translate(TEXTS[:1], **options)
    assert (translation.text, translation.score, translation.tokens) == (typed["text"], typed["score"], typed["tokens"])
    assert [list(link) for link in translation.alignment] == typed["alignment"]
    assert [{"text": text, "score": score} for text, score in translation.n_best] == typed["n_best"]


def test_an_output_goes_on_from_tokens(model: regard.Model) -> None:
    best, other = (text for text, _ in model.translate(TEXTS[1:], n_best=2)[0].n_best)
    (forced,) = model.translate_as(TEXTS[1:], [other])  # type: ignore[attr-defined]  # of translators
    (translation,) = model.translate(TEXTS[1:], before=forced.tokens[:3])
    assert translation.tokens[:3] == forced.tokens[:3]
    assert model.translate(TEXTS[1:], before=[])[0].text == best


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"before": ["x"], "sample": {}}, "'before' continues exact tokens by beam search; omit 'sample'."),
        ({"before": ["nonsense"]}, "'nonsense' is not a token of the model."),
        ({"samples": 3}, "'samples' is the number that 'mbr' chooses among; to get several samples, give 'n_best'."),
        (
            {"mbr": "chrf", "beam": 2},
            "'beam' is for beam search, but 'sample' and 'mbr' sample; give one or the other.",
        ),
        ({"engine": "onnx", "sample": {}}, "onnxruntime cannot do 'sample'; omit it, or set 'engine' to torch."),
        ({"too_long": "drop"}, "too_long is 'drop', expected one of 'split', 'truncate', 'refuse'"),
        ({"search": {"unrepeate": 1}}, "the search has no 'unrepeate'; did you mean 'unrepeated'?"),
    ],
    ids=str,
)
def test_what_does_not_go_together_is_refused(model: regard.Model, options: Options, sentence: str) -> None:
    with pytest.raises(Fault) as fault:
        model.translate(TEXTS[1:], **options)
    assert str(fault.value) == sentence


def test_a_translator_without_a_folder_has_no_export(model: regard.Model) -> None:
    alone = model.together([])  # type: ignore[attr-defined]  # of translators
    with pytest.raises(Fault, match="does not come from a folder with an export for CTranslate2; use torch"):
        alone.translate(TEXTS, engine="ctranslate2")
    assert alone.translate(TEXTS, engine="auto")[0].text == model.translate(TEXTS)[0].text


def test_a_prompt_is_continued_past_its_line_and_past_its_context(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = open_trained_toy("gpt", tmp_path)
    model = make_model(run.task, run.recipe)
    command = ("generate", tmp_path / "run", "--tokens", "100", "--json", "--set", "unrepeated=3")
    typed = printed(capsys, *command, "--past-end", "--when-full", "forget")
    texts = model.generate(tokens=100, past_end=True, when_full="forget", search={"unrepeated": 3})
    assert [text.as_dict() for text in texts[0]] == typed
    assert texts[0][0].text != model.generate(tokens=100)[0][0].text


@pytest.mark.parametrize(
    ("method", "options", "arguments"),
    [
        ("look_beam", {"width": 2, "length_penalty": 1.0}, ["--beam", "--width", "2", "--length-penalty", "1.0"]),
        (
            "look_next",
            {"at": 2, "sample": {"top_k": 3}, "bars": 60},
            ["--next", "--at", "2", "--top-k", "3", "--bars", "60"],
        ),
        ("look_next", {"prefix": "Ana"}, ["--next", "--prefix", "Ana"]),
    ],
)
def test_a_view_is_the_same(
    model: regard.Model, method: str, options: Options, arguments: list[str], trained: Path, tmp_path: Path
) -> None:
    out = tmp_path / "view.json"
    assert main(["look", str(trained), "--text", TEXTS[1], *arguments, "-o", str(out)]) == 0
    saved = getattr(model, method)(TEXTS[1], **options).save(tmp_path / "saved.json")
    assert saved.read_bytes() == out.read_bytes()


def test_a_word_in_several_texts_is_the_same(model: regard.Model, trained: Path, tmp_path: Path) -> None:
    out = tmp_path / "view.json"
    assert main(["look", str(trained), *TEXTS, "--contexts", "Ana", "-o", str(out)]) == 0
    assert model.look_contexts("Ana", TEXTS).save(tmp_path / "saved.json").read_bytes() == out.read_bytes()


def test_a_map_of_words_is_the_same(tmp_path: Path) -> None:
    run = open_trained_toy("word2vec", tmp_path)
    model, out = make_model(run.task, run.recipe), tmp_path / "map.json"
    assert main(["map", str(tmp_path / "run"), "-o", str(out), "--count", "5", "--side", "contexts"]) == 0
    word_map = model.map(count=5, side="contexts")
    typed, saved = (json.loads(path.read_text()) for path in (out, word_map.save(tmp_path / "saved.json")))
    assert saved["words"] == typed["words"]
    with pytest.raises(Fault, match="exists already; give overwrite=True to replace it"):
        word_map.save(out)
    with pytest.raises(Fault, match="around counts the neighbours of words; name the words"):
        model.map(around=3)

"""Drafts from every door: the outputs of plain search in fewer passes, and refusals."""

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import regard
from regard.base.faults import Fault
from regard.base.requests.fields import Held
from regard.cli import main
from regard.data.demo.corpus import pairs
from regard.model import make_model
from regard.tasks.language.speculating import SpeculatingLanguage
from regard.tasks.translation.speculating import SpeculatingTranslator
from regard.verbs.generate.drafting import refuse_coarse
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.plan import whole_texts
from regard.verbs.translate.run import _drafting, runner
from regard.verbs.translate.search import Constraints, find

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "language"))
from test_gpt_language import gpt_in

TEXTS = [english for english, _ in pairs("valid", count=6)]
PROMPTS = ["the cat sat on", "", "the dog saw the dog saw"]


@pytest.fixture(scope="module")
def translator(trained: Path) -> TranslationModel:
    loaded = regard.load(trained, device="cpu")
    assert isinstance(loaded, TranslationModel)
    return loaded


@pytest.fixture(scope="module")
def folders(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a student of the small translator, one with other tokens, and an n-gram model of its target tokens."""
    import tomli_w
    from small import train_arguments, undrawn, write_corpus

    place = tmp_path_factory.mktemp("drafts")
    text = trained.parent / "small.pt"
    data = {"train": str(text), "valid": str(text), "tokeniser": {"from": str(trained)}}
    ngram = {"family": "ngram", "task": "language", "data": data, "model": {"order": 3, "discount_fallback": True}}
    (place / "ngram.toml").write_text(tomli_w.dumps(ngram), "utf-8")
    corpus, small = write_corpus(place), {"model__decoder_layers": 1, "model__width": 8, "model__feed_forward": 8}
    with undrawn():
        assert main(train_arguments(*corpus, place / "student", **small)) == 0
        assert main(train_arguments(*corpus, place / "other", data__tokeniser__vocabulary=300, **small)) == 0
        assert main(["train", str(place / "ngram.toml"), "--out", str(place / "ngram")]) == 0
    return {name: place / name for name in ("student", "other", "ngram")}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("draft", ["lookup", "source", "student", "ngram"])
def test_a_draft_changes_no_translation(translator: TranslationModel, folders: dict[str, Path], draft: str) -> None:
    plain = translator.translate(TEXTS, beam=1)
    for chosen in [folders.get(draft, draft), *([regard.load(folders[draft])] if draft in folders else [])]:
        found = translator.translate(TEXTS, draft=chosen)
        assert [output.tokens for output in found] == [output.tokens for output in plain]
        assert [output.score for output in found] == pytest.approx([output.score for output in plain], abs=1e-4)


@pytest.mark.long
def test_a_draft_changes_no_sample_and_keeps_constraints(translator: TranslationModel) -> None:
    drawing: dict[str, Any] = {"sample": {"temperature": 0.7, "seed": 5}, "n_best": 2}
    plain = translator.translate(TEXTS[:5], **drawing)
    found = translator.translate(TEXTS[:5], draft="lookup", **drawing)
    assert [[text for text, _ in output.n_best] for output in found] == [
        [text for text, _ in output.n_best] for output in plain
    ]
    constraints = Constraints(prefixes=["Eu"] * 5, forbidden=["casa", "e"])
    wanted = translator.translate(TEXTS[:5], beam=1, constraints=constraints)
    drafted = translator.translate(TEXTS[:5], draft="source", constraints=constraints)
    assert [output.tokens for output in drafted] == [output.tokens for output in wanted]


def test_a_good_draft_saves_passes(translator: TranslationModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.decoding.drafts.LIKELY", 0.0)  # it has learnt too little to be sure of anything
    plan = translator.plan(draft=Held(translator))
    drafting = _drafting(translator, plan, Held(translator), lambda name: name.content)
    find([translator.task], whole_texts(TEXTS), plan, None, drafting)
    assert drafting.counts.written > 1.5 * drafting.counts.passes
    assert runner(translator, plan)(whole_texts(TEXTS[:1]))[0].text


def test_the_command_line_writes_the_same_lines(
    trained: Path, folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(TEXTS[:4]) + "\n", encoding="utf-8")
    outputs = []
    for way in (["--beam", "1"], ["--draft", "lookup"], ["--draft", str(folders["student"])]):
        assert main(["translate", str(trained), str(lines), *way]) == 0
        outputs.append(capsys.readouterr().out)
    assert outputs[0]
    assert set(outputs) == {outputs[0]}


REFUSED: list[tuple[list[str], str]] = [
    (["--beam", "4"], "A draft is for greedy search, but the beam is 4; set beam to 1 or omit the draft."),
    (["--n-best", "2"], "A draft is for greedy search, which gives one output; omit the draft or ask for one."),
    (["--engine", "ctranslate2"], "CTranslate2 cannot do --draft; omit it, or set --engine to torch."),
    (["--mbr", "chrf"], "--draft helps one model to write by greedy search or sampling; omit --mbr."),
    (["--set", "coverage_penalty=0.2"], "A draft cannot be used with coverage_penalty; set it to 0 or omit the draft."),
    (["--set", "stop=exhaustive"], "A draft is for greedy search, which stops at its first end; set stop to settled."),
    (["--precision", "bf16"], "A draft needs float32"),
    (["--sample", "--set", "sampling.typical=0.5"], "A draft cannot be used with sampling.typical; omit one of them."),
]


@pytest.mark.parametrize(("way", "sentence"), REFUSED)
def test_searches_that_no_draft_can_help_are_refused(
    trained: Path, capsys: pytest.CaptureFixture[str], way: list[str], sentence: str
) -> None:
    assert main(["translate", str(trained), "--text", "We read.", "--draft", "lookup", *way]) == 2
    assert sentence in capsys.readouterr().err


def test_models_of_other_tokens_are_refused(translator: TranslationModel, folders: dict[str, Path]) -> None:
    with pytest.raises(Fault, match="have different tokens; a draft needs a model of the same tokens"):
        translator.translate(["We read."], draft=folders["other"])
    with pytest.raises(Fault, match="no model"):
        translator.translate(["We read."], draft="nowhere")


def test_families_without_a_cache_are_refused(tmp_path: Path) -> None:
    from toys import open_toy

    for name, clause in (("seq2seq", "token by token with a cache"), ("rnnlm", "no cache of keys and values")):
        place = tmp_path / name
        place.mkdir()
        run = open_toy(name, place)
        model: Any = make_model(run.task, run.recipe)
        ask = model.translate if name == "seq2seq" else model.generate
        with pytest.raises(Fault, match=f"A draft cannot be used, because .* {clause}"):
            ask(["a b"], draft="lookup")


def test_coarse_weights_are_refused() -> None:
    refuse_coarse([torch.zeros(1)])
    with pytest.raises(Fault, match="A draft needs float32"):
        refuse_coarse([torch.zeros(1), torch.zeros(1, dtype=torch.bfloat16)])


@pytest.mark.one_in(2)
@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.parametrize("past_end", [False, True])
def test_a_draft_changes_no_text(tmp_path: Path, forgets: bool, past_end: bool) -> None:
    model: Any = gpt_in(tmp_path, context=12)
    ways: list[dict[str, Any]] = [{"beam": 1}, {"sample": {"temperature": 0.5}, "samples": 2}]
    for way in ways:
        more = {"tokens": 24, "past_end": past_end, "when_full": "forget" if forgets else "stop"}
        plain = model.generate(PROMPTS, **way, **more)
        for draft in ("lookup", model):
            found = model.generate(PROMPTS, **way, **more, draft=draft)
            for texts, drafted in zip(plain, found, strict=True):
                assert [text.text for text in drafted] == [text.text for text in texts]
                assert [text.ended for text in drafted] == [text.ended for text in texts]
                assert [text.score for text in drafted] == pytest.approx([text.score for text in texts])


def test_a_language_model_has_no_source_to_copy(tmp_path: Path) -> None:
    model: Any = gpt_in(tmp_path, context=12)
    with pytest.raises(Fault, match="'source' copies what a translator reads"):
        model.generate(PROMPTS, beam=1, draft="source")


def test_a_draft_for_a_language_model_from_the_command_line(
    trained: Path, folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import tomli_w
    from small import undrawn

    text = trained.parent / "small.pt"
    gpt = {
        "family": "gpt",
        "task": "language",
        "data": {"train": str(text), "valid": str(text), "tokeniser": {"from": str(trained)}},
        "model": {"layers": 1, "width": 8, "heads": 2, "context": 64},
        "training": {"steps": 1, "batch": 2, "validate_every": 1, "optimizer": {"warmup": 1}},
    }
    (tmp_path / "gpt.toml").write_text(tomli_w.dumps(gpt), "utf-8")
    with undrawn():
        assert main(["train", str(tmp_path / "gpt.toml"), "--out", str(tmp_path / "gpt")]) == 0
    capsys.readouterr()
    outputs = []
    for way in ([], ["--draft", "lookup"], ["--draft", str(folders["ngram"])]):
        assert main(["generate", str(tmp_path / "gpt"), "--prompt", "Eu", "--tokens", "20", "--json", *way]) == 0
        outputs.append(json.loads(capsys.readouterr().out)["text"])
    assert set(outputs) == {outputs[0]}
    assert main(["generate", str(tmp_path / "gpt"), "--beam", "2", "--draft", "lookup"]) == 2
    assert "A draft is for greedy search, but the beam is 2" in capsys.readouterr().err
    assert main(["generate", str(tmp_path / "gpt"), "--draft", str(trained)]) == 2
    assert capsys.readouterr().err
    assert main(["generate", str(folders["ngram"]), "--draft", "lookup"]) == 2
    assert "has no cache of keys and values" in capsys.readouterr().err


def test_tokens_are_taken_back_as_if_they_were_never_read(translator: TranslationModel, tmp_path: Path) -> None:
    """Every state, and what follows it, in float64."""
    model: Any = gpt_in(tmp_path, context=12)
    task = copy.deepcopy(translator.task).double()
    prompt = model.task.read(["the cat"])
    writers: list[tuple[Any, Any]] = [
        (SpeculatingTranslator(task), task.read(TEXTS[:1])),
        (SpeculatingLanguage(model.task), prompt),
    ]
    for writer, batch in writers:
        read, wrong, rest = [writer.begin, 5, 6], [7, 8], [9, 4, 5]
        state = writer.start(batch)
        steps = []
        for token in [*read, *rest]:
            scores, state = writer.step(torch.tensor([token]), state)
            steps.append(scores[0])
        found, again = writer.steps(torch.tensor([[*read, *wrong]]), writer.start(batch))
        torch.testing.assert_close(found[0, : len(read)], torch.stack(steps[: len(read)]))
        further, _ = writer.steps(torch.tensor([rest]), writer.take_back(again, len(wrong)))
        torch.testing.assert_close(further[0], torch.stack(steps[len(read) :]))

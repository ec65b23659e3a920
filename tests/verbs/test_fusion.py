"""A language model in a translator's search: what it is, what it changes, and when it is refused."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import tomli_w
import torch

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.decoding.combined import Fused
from regard.decoding.output import Hypothesis
from regard.decoding.rerank import Channel
from regard.model import Model
from regard.tasks.language.batches import Prompts
from regard.verbs.translate.fusion import Fusion, fusion_of
from regard.verbs.translate.model import TranslationModel
from regard.verbs.translate.plan import whole_texts
from regard.verbs.translate.reranking import by_channel
from regard.verbs.translate.search import find

TEXTS = ["I love books.", "Ana sees the red house.", "We read."]
FAMILIES: dict[str, dict[str, Any]] = {
    "ngram": {"model": {"order": 3, "discount_fallback": True}},
    "rnnlm": {
        "model": {"layers": 1, "embedding": 12, "width": 12},
        "training": {"steps": 4, "batch": 4, "span": 12, "validate_every": 4, "optimizer": {"warmup": 2}},
    },
    "gpt": {
        "model": {"layers": 1, "width": 8, "heads": 2, "context": 64},
        "training": {"steps": 1, "batch": 2, "validate_every": 1, "optimizer": {"warmup": 1}},
    },
}


def write_recipe(folder: Path, family: str, text: Path, **tokeniser: Any) -> Path:
    data = {"train": str(text), "valid": str(text), "tokeniser": tokeniser}
    path = folder / f"{family}.toml"
    path.write_text(tomli_w.dumps({"family": family, "task": "language", "data": data} | FAMILIES[family]), "utf-8")
    return path


@pytest.fixture(scope="module")
def folders(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return language models over the small translator's tokens, and one over words."""
    from small import undrawn

    folder, text = tmp_path_factory.mktemp("fused"), trained.parent / "small.pt"
    recipes = {family: write_recipe(folder, family, text, **{"from": str(trained)}) for family in FAMILIES}
    with undrawn():
        for family, recipe in recipes.items():
            assert main(["train", str(recipe), "--out", str(folder / family)]) == 0
        assert main(["train", str(write_recipe(folder, "ngram", text)), "--out", str(folder / "words")]) == 0
    return {name: folder / name for name in (*FAMILIES, "words")}


@pytest.fixture(scope="module")
def translator(trained: Path) -> TranslationModel:
    loaded = regard.load(trained, device="cpu")
    assert isinstance(loaded, TranslationModel)
    return loaded


@pytest.fixture(params=list(FAMILIES))
def language_model(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Model:
    return regard.load(folders[request.param], device="cpu")


# Effects


@pytest.mark.one_in(3)
@pytest.mark.parametrize("search", [{"beam": 1}, {"beam": 4, "n_best": 4}, {"sample": {"seed": 3}}])
def test_the_score_of_an_output_is_the_sum_of_both(
    translator: TranslationModel, language_model: Any, search: dict[str, Any]
) -> None:
    """log p(y|x) + 0.4 log p_LM(y), each as its model alone scores the output."""
    translations = translator.translate(TEXTS, length_penalty=0.0, fuse=language_model, fuse_weight=0.4, **search)
    forced = translator.translate_as(TEXTS, [translation.text for translation in translations])
    for translation, alone in zip(translations, forced, strict=True):
        tokens = translator.task.target.encode(translation.text)
        if translation.tokens != translator.task.target.pieces(tokens):
            continue  # written in tokens other than those the text is cut into
        assert translation.token_scores == pytest.approx(alone.token_scores, abs=1e-4)
        assert translation.language_scores == pytest.approx(
            language_model.score([translation.text])[0].token_scores, abs=1e-4
        )
        assert translation.score == pytest.approx(
            sum(translation.token_scores) + 0.4 * sum(translation.language_scores), abs=1e-4
        )


@pytest.mark.one_in(3)
def test_weight_nothing_gives_exactly_the_plain_output(translator: TranslationModel, language_model: Model) -> None:
    for search in ({"beam": 4, "n_best": 4}, {"sample": {"seed": 3}}):
        plain = translator.translate(TEXTS, **search)
        assert translator.translate(TEXTS, fuse=language_model, fuse_weight=0, **search) == plain


def test_a_heavy_language_model_decides_what_is_written(translator: TranslationModel, folders: dict[str, Path]) -> None:
    """The output is then what the language model itself finds most probable, for any input."""
    language_model = regard.load(folders["ngram"])
    translations = translator.translate(TEXTS, beam=1, fuse=language_model, fuse_weight=1e4)
    ((alone,),) = language_model.generate([""], beam=1)
    written = {tuple(translation.tokens) for translation in translations}
    assert all(tokens == tuple(alone.tokens[: len(tokens)]) for tokens in written)


def test_sums_are_parted_again_on_paper() -> None:
    """log ½ + 0.5 · log ¼ is log ¼; its parts are the half and the quarter."""

    class Quarters:
        begin, end = 0, 1

        def token_scores(self, batch: Any) -> Any:
            return torch.full((3,), math.log(0.25)).double().numpy()

    fusion: Any = Fusion(Quarters(), "quarters", 0.5)  # type: ignore[arg-type]
    ((hypothesis,),) = fusion.part([[Hypothesis([5, 6], [math.log(0.25)] * 3, -9.0)]])
    assert hypothesis.token_scores == pytest.approx([math.log(0.5)] * 3)
    assert hypothesis.language_scores == pytest.approx([math.log(0.25)] * 3)
    assert (hypothesis.tokens, hypothesis.score) == ([5, 6], -9.0)


def test_an_output_is_no_longer_than_the_language_model_can_write(
    translator: TranslationModel, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    language_model = regard.load(folders["ngram"])
    monkeypatch.setattr(
        language_model.task, "limits", lambda batch, options: torch.full((batch.rows,), 4), raising=False
    )
    assert max(len(translation.tokens) for translation in translator.translate(TEXTS)) > 3
    assert max(len(translation.tokens) for translation in translator.translate(TEXTS, fuse=language_model)) <= 3


def test_a_state_lies_where_the_translator_does(translator: TranslationModel, folders: dict[str, Path]) -> None:
    """It is on the device of the first state, here torch's meta device."""
    task: Any = regard.load(folders["ngram"]).task
    batch = translator.task.read(TEXTS)
    state = Fused(translator.task, task, 0.5, lambda batch: Prompts([[]] * batch.rows)).start(batch)
    assert state.to(torch.device("meta")).row[1]["context"].device.type == "meta"


# From the command line


def test_the_command_line_gives_what_python_gives(
    trained: Path, folders: dict[str, Path], translator: TranslationModel, capsys: pytest.CaptureFixture[str]
) -> None:
    (expected,) = translator.translate(TEXTS[:1], fuse=regard.load(folders["ngram"]), fuse_weight=0.5)
    command = ["translate", str(trained), "--text", TEXTS[0], "--fuse", str(folders["ngram"]), "--json"]
    assert main([*command, "--fuse-weight", "0.5"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["text"] == expected.text
    assert report["language_scores"] == pytest.approx(expected.language_scores)
    assert report["token_scores"] == pytest.approx(expected.token_scores, abs=1e-5)
    assert main([*command, "--fuse-weight", "0"]) == 0
    plain = json.loads(capsys.readouterr().out)
    assert plain["text"] == translator.translate(TEXTS[:1])[0].text
    assert "language_scores" not in plain


def test_that_an_export_is_passed_over_is_said(
    trained: Path, folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(trained, tmp_path / "run")
    (tmp_path / "run" / "onnx").mkdir()
    (tmp_path / "run" / "onnx" / "export.json").write_text("{}")
    assert main(["translate", str(tmp_path / "run"), "--text", TEXTS[0], "--fuse", str(folders["ngram"])]) == 0
    assert "cannot fuse with a language model, so torch translates." in " ".join(capsys.readouterr().err.split())


def test_scores_of_a_fusion_say_so(trained: Path, folders: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--source", str(trained.parent / "few.en"), "--reference", str(trained.parent / "few.pt")]
    for name in ("en", "pt"):
        lines = (trained.parent / f"small.{name}").read_text("utf-8").splitlines()[:3]
        (trained.parent / f"few.{name}").write_text("\n".join(lines) + "\n", "utf-8")
    command = ["evaluate", str(trained), *files, "--metric", "chrf", "--fuse", str(folders["rnnlm"]), "--json"]
    assert main([*command, "--fuse-weight", "0.3"]) == 0
    (score,) = json.loads(capsys.readouterr().out)["scores"]
    assert score["signature"].endswith("|fuse:rnnlm:0.3")
    assert main([*command, "--fuse-weight", "0"]) == 0
    (score,) = json.loads(capsys.readouterr().out)["scores"]
    assert "fuse" not in score["signature"]


# Reranking


def test_a_channel_and_a_prior_rank_what_the_beam_found(translator: TranslationModel, language_model: Any) -> None:
    """Rank by mean log-probability per token: of the output, of the source given it, and of the output alone."""
    data = translator.recipe.data.model_copy(update={"source_language": "pt", "target_language": "en"})
    backward = TranslationModel(translator.task, translator.recipe.model_copy(update={"data": data}))
    hypotheses = find([translator.task], whole_texts(TEXTS), translator.plan(beam=4, n_best=4))
    ranked = by_channel(translator, backward, Channel(2.0, 0.5), language_model, count=4)(TEXTS, hypotheses)
    for text, several in zip(TEXTS, ranked, strict=True):
        assert [hypothesis.score for hypothesis in several] == sorted(
            (hypothesis.score for hypothesis in several), reverse=True
        )
        for hypothesis in several:
            output = translator.task.write(hypothesis.tokens)
            parts = [hypothesis.token_scores, backward.translate_as([output], [text])[0].token_scores]
            parts.append(language_model.score([output])[0].token_scores)
            direct, behind, fluent = (sum(part) / len(part) for part in parts)
            assert hypothesis.score == pytest.approx(direct + 2.0 * behind + 0.5 * fluent, abs=1e-5)


def test_python_and_evaluate_rerank_as_the_command_does(
    trained: Path,
    folders: dict[str, Path],
    translator: TranslationModel,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from small import turn_around

    back, prior = turn_around(trained, tmp_path / "back"), folders["ngram"]
    options = ["--channel", str(back), "--channel-weight", "2", "--prior", str(prior)]
    helpers = {"channel": regard.load(back), "channel_weight": 2.0, "prior": regard.load(prior)}
    assert main(["translate", str(trained), "--text", TEXTS[0], "--json", *options]) == 0
    report = json.loads(capsys.readouterr().out)
    (translation,) = translator.translate(TEXTS[:1], **helpers)
    assert (report["text"], len(translation.n_best)) == (translation.text, 1)
    assert report["score"] == pytest.approx(translation.score, abs=1e-5)

    sources = [TEXTS[0], "", TEXTS[2]]
    (source := tmp_path / "few.en").write_text("".join(f"{source}\n" for source in sources), "utf-8")
    outputs = [f"{translation.text}\n" for translation in translator.translate(sources, **helpers)]
    (reference := tmp_path / "few.pt").write_text("".join(outputs), "utf-8")
    files = ["--source", str(source), "--reference", str(reference)]
    assert main(["evaluate", str(trained), *files, "--metric", "chrf", "--json", *options]) == 0
    (score,) = json.loads(capsys.readouterr().out)["scores"]
    assert score["value"] == 100
    assert score["signature"].endswith("|channel:back:2|prior:ngram:0.2")
    folders_only = {"channel": back, "channel_weight": 2.0, "prior": prior}
    (same,) = regard.evaluate(trained, source=source, reference=reference, metrics=["chrf"], quiet=True, **folders_only)
    assert (same.value, same.signature) == (score["value"], score["signature"])


# Refusals


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 2
    return capsys.readouterr().err


def test_other_tokens_are_refused_with_the_difference_and_the_remedy(
    trained: Path, folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    message = refusal(capsys, "translate", str(trained), "--text", "x", "--fuse", str(folders["words"]))
    assert f"The translator has 400 tokens of kind unigram, but {folders['words']} has " in message
    assert " of kind spaces; " in message
    assert f"train a language model with data.tokeniser.from = {trained}." in message


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--fuse-weight", "0.5"], "The weight of a fusion has no effect without a language model to fuse with."),
        (["--fuse", "LM", "--engine", "onnx"], "cannot do --fuse; omit it, or set --engine to torch."),
        (["--channel", "x", "--prior-weight", "1"], "The weight of a prior has no effect without a prior."),
        (["--prior", "LM"], "A prior reranks together with a channel model; name a channel model too."),
        (["--fuse", "TRANSLATOR"], "TRANSLATOR is a transformer, which gives a text for each text."),
        (["--fuse", "TRANSLATOR"], "A language model (rnnlm, gpt, from-gates, ngram) is needed, but "),
        (
            ["--channel", "TRANSLATOR", "--prior", "TRANSLATOR"],
            "A language model (rnnlm, gpt, from-gates, ngram) is needed, but ",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(
    trained: Path,
    folders: dict[str, Path],
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    sentence: str,
) -> None:
    places = {"LM": str(folders["ngram"]), "TRANSLATOR": str(trained)}
    message = refusal(
        capsys, "translate", str(trained), "--text", "x", *(places.get(option, option) for option in options)
    )
    assert sentence in message.replace(str(trained), "TRANSLATOR")


def test_an_output_longer_than_the_context_of_the_prior_is_told_by_the_line_it_is_for(
    trained: Path, folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from small import turn_around, undrawn

    back, short = turn_around(trained, tmp_path / "back"), tmp_path / "short"
    recipe = write_recipe(tmp_path, "gpt", trained.parent / "small.pt", **{"from": str(trained)})
    with undrawn():
        assert main(["train", str(recipe), "--out", str(short), "--set", "model.context=2"]) == 0
    (source := tmp_path / "two.en").write_text(f"\n{TEXTS[0]}\n", "utf-8")
    options = ["--channel", str(back), "--prior", str(short), "--beam", "4"]
    sentence = "one of its outputs is longer than the context of the language model that ranks them."
    message = refusal(capsys, "translate", str(trained), str(source), *options)
    assert f"Line 2: {sentence}" in " ".join(message.split())
    message = refusal(capsys, "evaluate", str(trained), "--source", str(source), "--reference", str(source), *options)
    assert f"Text 2: {sentence}" in " ".join(message.split())


def test_a_fault_of_an_output_is_told_by_the_number_of_its_text(
    translator: TranslationModel, folders: dict[str, Path]
) -> None:
    data = translator.recipe.data.model_copy(update={"source_language": "pt", "target_language": "en"})
    backward = TranslationModel(translator.task, translator.recipe.model_copy(update={"data": data}))
    prior: Any = regard.load(folders["gpt"], device="cpu")
    hypotheses = find([translator.task], whole_texts(TEXTS), translator.plan(beam=3, n_best=3))
    tokens = translator.task.target.encode("casa " * 100)
    hypotheses[1][2] = Hypothesis(tokens, [0.0] * (len(tokens) + 1), 0.0)
    with pytest.raises(Fault, match="Text 2: one of its outputs is longer than the context of the language model"):
        by_channel(translator, backward, Channel(1.0, 0.5), prior)(TEXTS, hypotheses)


def test_a_weight_below_nothing_is_refused(translator: TranslationModel, folders: dict[str, Path]) -> None:
    with pytest.raises(Fault, match=r"The weight of a fusion is -1; give a number of at least 0\."):
        fusion_of(translator, regard.load(folders["ngram"]), -1)
    with pytest.raises(Fault, match=r"The weight of a fusion has no effect without a language model"):
        translator.translate(TEXTS, fuse_weight=0.5)
    with pytest.raises(Fault, match="The weight of a channel model has no effect without a channel model"):
        translator.translate(TEXTS, channel_weight=0.5)
    with pytest.raises(Fault, match="A channel model reranks the outputs of a beam; do not sample"):
        translator.translate(TEXTS, channel=translator, sample={})
    with pytest.raises(Fault, match="The weight of a channel model is nan; give a number"):
        translator.translate(TEXTS, channel=translator, channel_weight=float("nan"))
    with pytest.raises(Fault, match=r"is needed, but .* is a transformer, which gives a text for each text"):
        translator.translate(TEXTS, channel=translator, prior=translator)


# Shared tokens


@pytest.mark.long
def test_taken_over_tokens_travel_in_the_folder(
    trained: Path, folders: dict[str, Path], tmp_path: Path, translator: TranslationModel
) -> None:
    """A run can therefore resume, and a model load, when the translator is gone."""
    origin = tmp_path / "translator"
    shutil.copytree(trained, origin)
    text = trained.parent / "small.pt"
    recipe = write_recipe(tmp_path, "rnnlm", text, **{"from": str(origin)})
    train = ["train", str(recipe), "--out", str(tmp_path / "run"), "--set"]
    assert main([*train, "training.steps=2"]) == 0
    shutil.rmtree(origin)
    assert main([*train, "training.steps=4", "--resume"]) == 0
    loaded: Any = regard.load(tmp_path / "run")
    assert loaded.task.tokeniser.files("x") == translator.task.target.files("x")
    assert loaded.recipe.data.tokeniser.kind == "unigram"
    once = regard.load(folders["rnnlm"])
    assert loaded.score(["Eu amo livros."])[0].score == once.score(["Eu amo livros."])[0].score  # type: ignore[attr-defined]


def test_tokens_that_cannot_be_taken_over_are_refused(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, out = trained.parent / "small.pt", str(tmp_path / "run")
    recipe = write_recipe(tmp_path, "ngram", text, **{"from": "nowhere"})
    assert "data.tokeniser.from is nowhere, but there is no model; train that model first" in refusal(
        capsys, "train", str(recipe), "--out", out
    )
    recipe = write_recipe(tmp_path, "ngram", text, kind="bpe", **{"from": str(trained)})
    assert "data.tokeniser.kind is 'bpe', but 'unigram' in " in refusal(capsys, "train", str(recipe), "--out", out)
    recipe = write_recipe(tmp_path, "ngram", text, vocabulary=300, **{"from": str(trained)})
    message = refusal(capsys, "train", str(recipe), "--out", out)
    assert "vocabulary and at_least are for training a tokeniser" in message
    assert not (tmp_path / "run").exists()


def test_what_a_translator_is_judged_by_is_left_out_of_the_text(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from regard.data.corpora.prepared import read_unlearnt

    judged = [target for _, target in read_unlearnt(trained / "training" / "corpus")]
    text = tmp_path / "text.pt"
    text.write_text("\n".join(["Ana lê.", judged[0].upper(), "Ana vê.", *judged[1:3]]) + "\n", "utf-8")
    path = write_recipe(tmp_path, "ngram", text, **{"from": str(trained)})
    path.write_text(path.read_text("utf-8").replace("[data.tokeniser]", f'leave_out = "{trained}"\n\n[data.tokeniser]'))
    assert main(["train", str(path), "--out", str(tmp_path / "run")]) == 0
    message = " ".join(capsys.readouterr().err.split())
    assert "train: 2 lines, " in message
    assert "left out because a translator is evaluated on them: 3 lines" in message
    path.write_text(path.read_text("utf-8").replace(f'leave_out = "{trained}"', f'leave_out = "{tmp_path / "run"}"'))
    assert "keep its training folder, or omit data.leave_out" in refusal(
        capsys, "train", str(path), "--out", str(tmp_path / "other")
    )

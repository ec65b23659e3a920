"""The ONNX engine finds what our own search finds, on one or many cores, and refuses incomplete exports."""

import shutil
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import pytest

import regard
from regard.base.faults import Fault, TooLong
from regard.base.pauses import pausing
from regard.data.tokenisers.words import WordTokeniser
from regard.decoding.options import DecodingOptions
from regard.engines.exported import origins
from regard.engines.onnx.engine import OnnxEngine, load_engine, load_graphs
from regard.engines.onnx.export import Quantisation, export_onnx
from regard.engines.shortlist import Shortlist
from regard.families import check_recipe
from regard.tasks.translation.building import build_translation
from regard.training.checkpoint import read_folder
from regard.verbs.translate.model import TranslationModel, load_translation_model
from regard.verbs.translate.plan import Plan, whole_texts
from regard.verbs.translate.run import runner

TEXTS = ["I love books.", "Ana sees the red house.", " ", "The boys read.", "x", "Кот, ação!"]


def with_export(trained: Path, folder: Path, quantisation: Quantisation, shortlist: Shortlist | None = None) -> Path:
    shutil.copytree(trained, folder)
    export_onnx(regard.load(folder), folder / "onnx", quantisation, origins(read_folder(folder)), shortlist)
    return folder


@pytest.fixture(scope="module")
def exported(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_export(trained, tmp_path_factory.mktemp("exact") / "run", "float32")


@pytest.fixture(scope="module")
def exact(exported: Path) -> OnnxEngine:
    return load_engine(exported)


@pytest.fixture(scope="module")
def in_eight_bits(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_export(trained, tmp_path_factory.mktemp("rounded") / "run", "int8")


@pytest.fixture(scope="module")
def rounded(in_eight_bits: Path) -> OnnxEngine:
    return load_engine(in_eight_bits)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("options", [{"beam": 1}, {"beam": 3, "n_best": 3}, {"beam": 2, "stop": "exhaustive"}], ids=str)
def test_the_same_as_torch_with_what_led_to_it(exported: Path, exact: OnnxEngine, options: dict[str, int]) -> None:
    search = DecodingOptions.model_validate(options)
    expected = runner(load_translation_model(exported), Plan(search))(whole_texts(TEXTS))
    for translation, reference in zip(exact.translations(TEXTS, search, explained=True), expected, strict=True):
        assert (translation.text, translation.tokens, translation.alignment) == (
            reference.text,
            reference.tokens,
            reference.alignment,
        )
        assert translation.score == pytest.approx(reference.score, abs=1e-4)
        assert translation.token_scores == pytest.approx(reference.token_scores, abs=1e-4)
        assert [text for text, _ in translation.n_best] == [text for text, _ in reference.n_best]


def test_matrices_have_eight_bits_and_are_nearly_as_good(
    in_eight_bits: Path, exact: OnnxEngine, rounded: OnnxEngine
) -> None:
    search = DecodingOptions(beam=2)
    graph = onnx.load(in_eight_bits / "onnx" / "step.onnx", load_external_data=False).graph
    matrices = [matrix for matrix in graph.initializer if len(matrix.dims) == 2 and matrix.name != "sinusoids"]
    assert {matrix.data_type for matrix in matrices} == {onnx.TensorProto.INT8}
    for hypotheses, reference in zip(rounded.translate(TEXTS, search), exact.translate(TEXTS, search), strict=True):
        assert hypotheses[0].score == pytest.approx(reference[0].score, abs=0.2)


@pytest.mark.parametrize("quantisation", ["float32", "int8"])
def test_a_shortlist_of_everything_changes_nothing(trained: Path, tmp_path: Path, quantisation: Quantisation) -> None:
    everything = Shortlist([*range(regard.load(trained).task.target.size)], {})
    listed = load_engine(with_export(trained, tmp_path / "listed", quantisation, everything))
    plain = load_engine(with_export(trained, tmp_path / "plain", quantisation))
    search = DecodingOptions(beam=3, n_best=3)
    for hypotheses, reference in zip(listed.translate(TEXTS, search), plain.translate(TEXTS, search), strict=True):
        if quantisation == "float32":
            assert [hypothesis.tokens for hypothesis in hypotheses] == [hypothesis.tokens for hypothesis in reference]
        assert hypotheses[0].score == pytest.approx(reference[0].score, abs=1e-4 if quantisation == "float32" else 0.2)


def test_only_what_is_listed_is_written(trained: Path, tmp_path: Path) -> None:
    source, target = (getattr(regard.load(trained).task, side) for side in ("source", "target"))
    common, more = target.encode("O livro."), target.encode("casa")
    shortlist = Shortlist(common, {source.encode(TEXTS[1])[0]: more})
    engine = load_engine(with_export(trained, tmp_path / "run", "float32", shortlist))
    assert Shortlist.from_bytes(shortlist.to_bytes(), 1000) == shortlist
    for text, allowed in zip(TEXTS, ({*common}, {*common, *more}), strict=False):
        for output in engine.translate([text], DecodingOptions(beam=4, n_best=4))[0]:
            assert {*output.tokens} <= allowed


def test_a_beam_wider_than_the_list_finds_what_there_is(trained: Path, tmp_path: Path) -> None:
    engine = load_engine(with_export(trained, tmp_path / "run", "float32", Shortlist([7], {})))
    outputs = engine.translate(["x"], DecodingOptions(beam=4, n_best=4))[0]
    assert len(outputs) == 4
    assert {token for output in outputs for token in output.tokens} == {7}


def test_cores_and_neighbours_change_nothing(exported: Path, rounded: OnnxEngine) -> None:
    search, many = DecodingOptions(beam=2), TEXTS * 5
    together = rounded.translate(many, search)
    assert together == [rounded.translate([text], search)[0] for text in many]
    alone, four = (load_engine(exported, workers=workers).translate(many, search) for workers in (1, 4))
    assert alone == four


def test_a_blank_text_is_blank_and_a_long_one_refused(exact: OnnxEngine) -> None:
    (blank,) = exact.translations(["  "], DecodingOptions())
    assert blank.text == ""
    with pytest.raises(TooLong, match="tokens, but the model takes"):
        exact.translate(["short", "the red house " * 700], DecodingOptions())
    with pytest.raises(Fault, match=r"^onnxruntime cannot follow decoding\.groups = 2; translate with torch\.$"):
        exact.translate(["short"], DecodingOptions(beam=2, groups=2))


def test_a_beam_wider_than_the_vocabulary_finds_what_there_is(tmp_path: Path) -> None:
    words = WordTokeniser(["a", "b", "c"])
    sizes = {"encoder_layers": 1, "decoder_layers": 1, "width": 16, "feed_forward": 16, "heads": 2, "longest": 16}
    data = {"train": "x.tsv", "tokeniser": {"kind": "words"}, "cleaning": {"longest": 15}}
    recipe = check_recipe({"data": data, "model": sizes})
    model = TranslationModel(build_translation(recipe, words, words), recipe)
    export_onnx(model, tmp_path / "onnx")
    engine = OnnxEngine(load_graphs(tmp_path / "onnx", words), (words, words), DecodingOptions(), 16)
    search = DecodingOptions(beam=9, n_best=9, longest_extra=1, longest_ratio=1.0)
    (translation,), (reference,) = (
        engine.translations(["a b"], search),
        runner(model, Plan(search))(whole_texts(["a b"])),
    )
    assert [text for text, _ in translation.n_best] == [text for text, _ in reference.n_best]


def test_a_text_of_nothing_that_tokens_stand_for_is_blank(exact: OnnxEngine, exported: Path) -> None:
    engine = OnnxEngine(exact._graphs, (_Deaf(exact.source), exact.target), exact.decoding, exact.longest)
    blank, other = engine.translations(["\u200b", "x"], DecodingOptions())
    assert (blank.text, blank.score, other.text) == ("", 0.0, exact.translations(["x"], DecodingOptions())[0].text)
    model = regard.load(exported)
    model.task.source = _Deaf(model.task.source)
    assert model.translate(["\u200b"])[0].text == ""


class _Deaf:
    """Tokeniser without tokens for invisible characters, as some others are."""

    def __init__(self, tokeniser: Any) -> None:
        self._tokeniser = tokeniser

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokeniser, name)

    def encode(self, text: str) -> list[int]:
        return [] if text == "\u200b" else self._tokeniser.encode(text)

    def encode_all(self, texts: list[str]) -> list[list[int]]:
        return [self.encode(text) for text in texts]


def spoil(folder: Path) -> None:
    path = folder / "onnx" / "weights.data"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(bytes(content))


def lose(folder: Path) -> None:
    (folder / "onnx" / "step.onnx").unlink()


def train_on(folder: Path) -> None:
    manifest = folder / "manifest.json"
    text = manifest.read_text(encoding="utf-8")
    weights = text.index("weights.safetensors")
    place = text.index('"', text.index("[", weights)) + 1
    manifest.write_text(text[:place] + ("0" if text[place] != "0" else "1") + text[place + 1 :], encoding="utf-8")


@pytest.mark.parametrize(
    ("harm", "said"),
    [
        (
            spoil,
            r"weights\.data is damaged: .* `regard export .* --to onnx --quantisation float32 --overwrite`",
        ),
        (lose, r"step\.onnx is missing or cannot be read"),
        (train_on, r"onnx was made before the model changed; make it again"),
        (lambda folder: shutil.rmtree(folder / "onnx"), r"holds no export; make one with `regard export .* --to onnx`"),
    ],
)
def test_what_is_not_whole_is_refused(exported: Path, tmp_path: Path, harm: Callable[[Path], None], said: str) -> None:
    folder = tmp_path / "run"
    shutil.copytree(exported, folder)
    harm(folder)
    with pytest.raises(Fault, match=said):
        load_engine(folder)


def test_what_onnxruntime_cannot_read_or_that_it_is_missing_is_said(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(exported, folder)
    monkeypatch.setattr("regard.engines.onnx.engine.read_export", lambda folder: {})
    (folder / "onnx" / "encoder.onnx").write_bytes(b"no graph")
    with pytest.raises(Fault, match=r"^onnxruntime cannot read .*encoder\.onnx: "):
        load_engine(folder)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(Fault, match=r"needs onnxruntime, which is not installed: pip install .regard\[onnx\]"):
        load_engine(folder)


def test_while_a_sentence_is_waited_for_another_may_be_translated(exact: OnnxEngine) -> None:
    texts, options = ["Ana reads.", "I love books."], DecodingOptions(beam=2)
    expected, threads = exact.translate(texts, options), set[str]()
    inside: list[object] = []

    def pause(is_free: bool) -> None:
        threads.add(threading.current_thread().name)
        if threading.current_thread() is threading.main_thread() and not inside:
            inside.append(None)  # so that the inner search is not interrupted in turn
            inside[0] = exact.translate(texts, options)

    with pausing(pause):
        assert exact.translate(texts, options) == expected
    assert inside in ([], [expected])  # a sentence may finish before anyone waits for it
    assert len(threads) > 1 or threading.main_thread().name not in threads  # and the searches themselves pause

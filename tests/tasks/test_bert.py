"""BERT in use: filled masks, transfer to classes, pairs and tags, framed texts, and refusals."""

from pathlib import Path
from typing import Any

import pytest
import torch
from labelled_files import write_labelled
from tagged_files import CHUNKS, write_tagged
from toys import TRAINING, open_trained_toy

import regard
from regard.attention import watching
from regard.base.faults import Fault, TextFault
from regard.base.progress import silent
from regard.engines.onnx.texts import text_parts
from regard.families import check_recipe
from regard.loading import Loaded
from regard.models.bert.network import Bert, Marks, frame, keep_ends
from regard.models.bert.options import BertOptions
from regard.models.text.texts import InputTokens, TextRows
from regard.runs.about import read_about
from regard.runs.open import Run, open_run
from regard.runs.parents import resolve
from regard.runs.train import train
from regard.seeing.gazes import see_answer
from regard.training.passes import Passes
from regard.training.snapshot import named_weights
from regard.viewing.sides import Words

pytestmark = pytest.mark.usefixtures("no_curves")
MARKS = Marks(pad=0, begin=2, end=3)


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a masked language model trained for a moment."""
    return open_trained_toy("bert", tmp_path_factory.mktemp("masked"), longest=40)


def tuned(masked: Run, folder: Path, table: dict[str, Any]) -> Run:
    """Return a run that starts from the masked language model."""
    recipe = resolve({"family": "bert", "seed": 3, "start_from": str(masked.folder.folder), **table})
    return open_run(recipe, folder / "tuned", False, silent, lambda remark: None)


def classes(folder: Path, **data: Any) -> dict[str, Any]:
    lines = write_labelled(folder / "texts.txt", 40)
    table = {"train": str(lines), "hold_out": 0.25} | data
    return {"task": "classification", "data": table, "training": TRAINING | {"batch": 8}}


def pairs(folder: Path) -> dict[str, Any]:
    """Return pairs labelled by whether the second text repeats the first."""
    (folder / "pairs.tsv").write_text("".join(f"same\tun{n} dois\tun{n} dois\nother\tun{n}\tdois\n" for n in range(20)))
    data = {"train": str(folder / "pairs.tsv"), "format": "table", "columns": ["label", "text", "second"]}
    return {"task": "classification", "data": data, "training": TRAINING | {"batch": 8}}


def test_a_text_and_a_pair_stand_between_marks() -> None:
    texts = TextRows(torch.tensor([[7, 8], [9, 0]]), torch.tensor([2, 1]))
    alone = frame(texts, MARKS)
    assert alone.tokens.tolist() == [[2, 7, 8, 3], [2, 9, 3, 0]]
    assert alone.lengths.tolist() == [4, 3]
    assert alone.segments is None
    both = frame(texts._replace(aspects=torch.tensor([[5, 0], [5, 6]]), aspect_lengths=torch.tensor([1, 2])), MARKS)
    assert both.tokens.tolist() == [[2, 7, 8, 3, 5, 3, 0], [2, 9, 3, 5, 6, 3, 0]]
    assert both.lengths.tolist() == [6, 6]
    assert both.segments is not None
    assert both.segments.tolist() == [[0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1, 0]]


def test_of_a_long_text_both_ends_are_kept() -> None:
    texts = TextRows(torch.tensor([[1, 2, 3, 4, 5, 6, 7], [8, 9, 0, 0, 0, 0, 0]]), torch.tensor([7, 2]))
    shortened = keep_ends(texts, 6)
    assert shortened.tokens.tolist() == [[1, 2, 6, 7], [8, 9, 0, 0]]
    assert shortened.lengths.tolist() == [4, 2]
    beside = texts._replace(aspects=torch.tensor([[5], [5]]), aspect_lengths=torch.tensor([1, 1]))
    assert [row[:length].tolist() for row, length in zip(*keep_ends(beside, 6)[:2], strict=True)] == [[1, 7], [8, 9]]


def test_a_captured_pass_learns_what_a_plain_one_does(masked: Run) -> None:
    task = masked.task.eval()
    results = []
    for way in ("plainly", "replay"):
        passes = Passes(task, task, "float32")
        task.zero_grad()
        losses = [getattr(passes, way)(batch, None) for batch in task.batches("train", 3, 1, 0)]
        sums = [[float(number) for number in loss.tallies["accuracy"].sums] for loss in losses]
        counts = [loss.count for loss in losses]
        results.append(
            ([loss.total for loss in losses], counts, sums, [parameter.grad.clone() for parameter in task.parameters()])
        )
    torch.testing.assert_close(results[0], results[1])
    assert len({*results[0][1]}) > 1  # as many as fit, which differs from batch to batch


def test_masks_are_filled_each_by_itself(masked: Run) -> None:
    model = regard.load(masked.folder.folder, device="cpu")
    one, two = model.answer(["[MASK] casa", "a [MASK] [MASK]"])
    assert one.probability == max(one.probabilities.values())
    assert len(two.answer.split()) == 2
    first, second = (model.answer([text])[0] for text in ("[MASK] casa", "a [MASK] [MASK]"))
    assert (first.answer, second.answer) == (one.answer, two.answer)  # batch-mates change nothing
    assert first.probabilities == pytest.approx(one.probabilities)


def test_examples_have_a_mask_to_be_filled(masked: Run) -> None:
    texts = read_about(masked.folder.folder).examples
    assert texts
    assert all(text.count("[MASK]") == 1 for text in texts)


def test_what_cannot_be_filled_is_refused(masked: Run) -> None:
    model = regard.load(masked.folder.folder, device="cpu")
    for text, words in {
        "": r"there is no \[MASK\] in it to fill",
        "casa": r"there is no \[MASK\] in it to fill",
        "a " * 39 + "[MASK]": "it has 40 tokens, but this model reads 38 at most",
    }.items():
        with pytest.raises(TextFault, match=words):
            model.answer([text])
    assert len(model.answer(["[MASK] " * 3])[0].answer.split()) == 3  # all-masked texts are filled too


def test_every_layer_has_a_vector_for_each_token_and_the_sentence_looks_at_itself(masked: Run) -> None:
    model = regard.load(masked.folder.folder, device="cpu")
    vectors, blank = model.embed(["a casa", ""])
    assert [states.shape[0] for states in blank.layers.values()] == [0, 0]
    tokens = model.task.tokeniser.encode("a casa")
    assert {layer: tuple(states.shape) for layer, states in vectors.layers.items()} == {
        0: (len(tokens), 8),
        1: (len(tokens), 8),
    }
    assert torch.equal(vectors.layers[0], model.task.model.reader.tokens[tokens])
    sight = see_answer(model.task, "a [MASK]")
    assert sight.looks == ["encoder"]
    side = sight.sides["source"]
    assert isinstance(side, Words)
    assert (side.words[0], side.words[-2:]) == ("[CLS]", ["[MASK]", "[SEP]"])
    assert (see_answer(model.task, "a casa").looks, see_answer(model.task, "a casa").output) == (["encoder"], "")
    with pytest.raises(Fault, match="There is no text to look at; give a sentence"):
        see_answer(model.task, " ")


@pytest.mark.parametrize("make", [classes, pairs])
def test_what_reads_is_taken_over_for_classes(masked: Run, tmp_path: Path, make: Any) -> None:
    run = tuned(masked, tmp_path, make(tmp_path))
    before, after = named_weights(masked.task), named_weights(run.task)
    readers = [name for name in after if name.startswith("model.reader.")]
    assert len(readers) == len(after) - 2  # all but the layer of classes
    assert all(torch.equal(before[name], after[name]) for name in readers)
    assert train(run, []).finished
    text = "un3 dois\tun3 dois" if make is pairs else "um texto"
    assert regard.load(run.folder.folder, device="cpu").answer([text])[0].answer in run.task.labels.classes


def test_a_second_text_is_read_and_looked_at(masked: Run, tmp_path: Path) -> None:
    run = tuned(masked, tmp_path, pairs(tmp_path))
    task = run.task.eval()
    same, other = task.answers(task.read(["un1 dois\tun1 dois", "un1 dois\tdois"]))
    assert same.probabilities != pytest.approx(other.probabilities)
    side = see_answer(task, "un1\tdois").sides["source"]
    assert isinstance(side, Words)
    assert [word for word in side.words if word in ("[CLS]", "[SEP]")] == ["[CLS]", "[SEP]", "[SEP]"]
    for text, words in {"un1": "it is not a pair", "un1\t": "there is no word", "a\tb\tc": "it is not a pair"}.items():
        with pytest.raises(TextFault, match=words):
            task.read([text])


def test_tags_come_from_the_first_part_of_each_word(masked: Run, tmp_path: Path) -> None:
    data = {"train": str(write_tagged(tmp_path / "tagged.txt", 20)), **CHUNKS}
    none = {"letters": {"reader": "none"}, "shape_width": 0}
    table = {"task": "tagging", "data": data, "model": none, "training": TRAINING | {"batch_tokens": 60}}
    run = tuned(masked, tmp_path, table)
    task = run.task.eval().double()
    batch = next(iter(task.batches("valid", 0, 0, 0)))
    states, inputs = task.model.states(batch.inputs), batch.inputs
    for row, sentence in enumerate(batch.sentences):
        pieces = [task.tokeniser.encode(word) for word in sentence.words]
        whole = [task.tokeniser.begin, *(token for piece in pieces for token in piece), task.tokeniser.end]
        alone = task.model.reader.read(torch.tensor([whole]))[-1][0]
        firsts = torch.tensor([1 + sum(map(len, pieces[:place])) for place in range(len(pieces))])
        width = alone.shape[1]
        torch.testing.assert_close(states[row, : len(pieces), :width], alone[firsts])
    assert inputs.pieces.shape[1] > inputs.words.shape[1]
    side = task.sides(batch.split(batch.rows)[0], [])["source"]
    assert side.words == ["[CLS]", *batch.sentences[0].words, "[SEP]"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"family": "rnn"}, "family is 'rnn', but the model has 'bert'"),
        ({"model": {"width": 12}}, "model.width is 12, but the model has 8"),
        ({"model": {"preset": "tiny"}}, "model.layers is 2, but the model has 1"),
    ],
)
def test_what_does_not_fit_the_parent_is_refused(
    masked: Run, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(Fault, match=words):
        resolve({"family": "bert", "start_from": str(masked.folder.folder), **classes(tmp_path), **changes})


def test_masks_are_not_learnt_from_a_model_of_classes(masked: Run, tmp_path: Path) -> None:
    run = tuned(masked, tmp_path, classes(tmp_path))
    data = {"train": str(tmp_path / "texts.txt")}
    with pytest.raises(Fault, match="task is 'masked', but the model has 'classification'"):
        resolve({"task": "masked", "start_from": str(run.folder.folder), "data": data})


def test_texts_longer_than_the_places_are_refused_unless_their_ends_will_do(masked: Run, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"{label} {'a ' * 60}\n" for label in "xy" * 10))
    table = classes(tmp_path) | {"data": {"train": str(tmp_path / "long.txt")}}
    with pytest.raises(
        Fault, match=r"data.train has a text of 60 tokens, but this model reads 38 at most; with model.too"
    ):
        tuned(masked, tmp_path / "a", table)
    run = tuned(masked, tmp_path / "b", table | {"model": {"too_long": "ends"}})
    assert next(iter(run.task.batches("train", 1, 0, 0))).texts.lengths.max() == 38


def test_a_long_text_is_read_in_windows_each_like_a_text_of_its_own() -> None:
    torch.manual_seed(1)
    vocabulary = InputTokens(size=20, pad=0, unknown=1, begin=2, end=3)
    sizes = {"layers": 2, "width": 8, "heads": 2, "feed_forward": 16, "longest": 8}
    windowed = Bert(BertOptions.model_validate({**sizes, "window": 4, "pooling": "mean"}), vocabulary).eval()
    plain = Bert(BertOptions.model_validate(sizes), vocabulary).eval()
    plain.load_state_dict(windowed.state_dict())
    tokens = torch.randint(4, 20, (2, 10))
    states = windowed.read(tokens, torch.tensor([10, 5]))[-1]
    torch.testing.assert_close(states[0, :4], plain.read(tokens[:1, :4])[-1][0])
    torch.testing.assert_close(states[0, 4:8], plain.read(tokens[:1, 4:8])[-1][0])
    torch.testing.assert_close(states[0, 8:], plain.read(tokens[:1, 8:])[-1][0])
    torch.testing.assert_close(states[1, 4:5], plain.read(tokens[1:, 4:5])[-1][0])
    torch.testing.assert_close(windowed.read(tokens[:, :4])[-1], plain.read(tokens[:, :4])[-1])
    assert windowed.multiplications(10) == 2 * plain.multiplications(4) + plain.multiplications(2)
    with watching(windowed) as gazes:
        watched = windowed.read(tokens, torch.tensor([10, 5]))[-1]
    torch.testing.assert_close(watched[0], states[0])
    torch.testing.assert_close(watched[1, :5], states[1, :5])
    assert gazes[0].weights.shape == (2, 2, 10, 10)


def test_with_a_window_texts_longer_than_the_places_are_classified(masked: Run, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"{label} {'a ' * 60}\n" for label in "xy" * 10))
    table = classes(tmp_path) | {"data": {"train": str(tmp_path / "long.txt")}}
    run = tuned(masked, tmp_path, table | {"model": {"window": 20, "pooling": "mean"}})
    assert next(iter(run.task.batches("train", 1, 0, 0))).texts.lengths.max() == 60
    assert next(answer.answer for answer in run.task.answers(run.task.read(["a " * 90]))) in "xy"
    with pytest.raises(Fault, match=r"reads windows of it \(model.window\)"):
        text_parts(Loaded(run.task, run.recipe))


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"window": 513, "pooling": "mean"}, "window is 513, more than the 512 places of longest"),
        ({"window": 128}, "with a window .CLS. sees only the first one; use 'mean' or 'max'"),
        ({"window": 128, "pooling": "max", "too_long": "ends"}, "with a window no text is too long"),
    ],
)
def test_windows_that_cannot_be_are_refused(model: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault, match=words):
        check_recipe({"family": "bert", "data": {"train": "a.txt"}, "model": model})


def test_options_that_go_with_other_families_are_refused(tmp_path: Path) -> None:
    table = pairs(tmp_path)
    with pytest.raises(Fault, match=r"data\.columns has a second text, but a rnn reads one; a bert reads pairs"):
        check_recipe(table | {"family": "rnn", "model": {}})
    data = {"train": "a.txt", "tokeniser": {"kind": "wordpiece"}}
    with pytest.raises(Fault, match=r"data\.tokeniser is for families that read word pieces, not for rnn"):
        check_recipe({"family": "rnn", "task": "tagging", "model": {}, "data": data})
    with pytest.raises(Fault, match=r"a bert reads word pieces, so data\.tokeniser must be set"):
        check_recipe({"family": "bert", "task": "tagging", "model": {}, "data": {"train": "a.txt"}})
    with pytest.raises(Fault, match=r"training\.span is 128, more than the 64 places of model\.longest"):
        check_recipe({"family": "bert", "data": {"train": "a.txt"}, "model": {"longest": 64}})
    with pytest.raises(Fault, match="pooler follows the state of the first token, but pooling is 'mean'"):
        check_recipe({"family": "bert", "data": {"train": "a.txt"}, "model": {"pooler": True, "pooling": "mean"}})

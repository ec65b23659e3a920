"""`regard embed`: vectors of texts and tokens in every layer, from Python and in a file that numpy opens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from toys import open_toy

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.cli import main
from regard.data.tokenisers.words import WordTokeniser
from regard.families import FAMILIES, check_recipe
from regard.model import Model, make_model
from regard.models.recurrent.seq2seq import Seq2Seq
from regard.protocols import TextVectors
from regard.tasks.translation.task import Translation
from regard.verbs.embed import run as embedding
from regard.verbs.embed.archive import LONGEST_TEXT, write_vectors
from regard.viewing.sides import Words

WORDS = WordTokeniser(["the", "dog", "bank", "of", "river", "lends", "money", ".", ","])
TEXTS = ["the bank lends money.", "", "the bank of the river", "dog", "the dog, the dog, the dog of the river bank."]
TRANSFORMER = {"encoder_layers": 2, "decoder_layers": 1, "width": 8, "heads": 2}
BUILDS: dict[str, tuple[str, dict[str, Any]]] = {
    "transformer": ("transformer", TRANSFORMER),
    "norm before": (
        "transformer",
        TRANSFORMER | {"norm": "before"},
    ),
    "seq2seq": ("seq2seq", {"embedding": 6, "width": 8, "encoder_layers": 2, "residual": True}),
    "one way": ("seq2seq", {"embedding": 6, "width": 8, "bidirectional": False, "decoder": "bottleneck"}),
}


@pytest.fixture(params=BUILDS, scope="module")
def model(request: pytest.FixtureRequest) -> Model:
    family, table = BUILDS[request.param]
    network, options = FAMILIES[family].load()
    torch.manual_seed(1)
    built = network(check(options, table | {"longest": 20}), WORDS.size, WORDS.size, True, WORDS.pad)
    recipe = check_recipe({"family": family, "data": {"train": "demo:train"}, "model": table})
    return make_model(Translation(built, WORDS, WORDS).double(), recipe)


def test_the_vectors_of_a_text_are_those_it_has_alone(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    together = model.embed(TEXTS)
    monkeypatch.setattr(embedding, "_CHARACTERS", 1)
    for text, vectors in zip(TEXTS, together, strict=True):
        (alone,) = model.embed([text])
        torch.testing.assert_close(vectors.layers, alone.layers)
        assert vectors.text == alone.text


def test_layer_0_is_the_plain_embedding_and_those_above_know_the_context(model: Model) -> None:
    embeddings = model.embed(["the bank lends money", "the bank of money"])
    first, second = ({layer: vectors[1] for layer, vectors in embedding.layers.items()} for embedding in embeddings)
    network = model.task.model
    torch.testing.assert_close(first[0], network.source_embedding(torch.tensor([WORDS.encode("bank")]))[0, 0])
    assert torch.equal(first[0], second[0])
    assert len(first) == 1 + getattr(network.options, "encoder_layers", 1)
    for layer in list(first)[1 + (not getattr(network.options, "bidirectional", True)) :]:
        assert not torch.allclose(first[layer], second[layer])


def test_the_last_layer_is_what_the_decoder_reads(model: Model) -> None:
    network, batch = model.task.model, model.task.read(["the bank lends money"])
    if isinstance(network, Seq2Seq):
        expected, _ = network.encoder(network.source_embedding(batch.source), batch.source_lengths)
    else:
        expected = network.encode(batch.source, batch.source_lengths)
    layers = model.embed(["the bank lends money"])[0].layers
    torch.testing.assert_close(layers[max(layers)], expected[0, :-1])


def test_means_of_words_and_of_sentences_by_hand() -> None:
    vectors = torch.tensor([[0.0, 2.0], [4.0, 0.0], [2.0, 4.0]])
    text = TextVectors(Words(["un", "do", "it"], ["undo", "it"], [0, 0, 1]), {0: vectors})
    assert text.sentence[0].tolist() == [2.0, 2.0]
    assert text.words[0].tolist() == [[2.0, 1.0], [2.0, 4.0]]
    nothing = TextVectors(Words([], [], []), {0: vectors[:0]})
    assert nothing.sentence[0].tolist() == [0.0, 0.0]


def test_one_layer_alone_and_one_that_is_not_there(model: Model) -> None:
    assert list(model.embed(["dog"], layer=1)[0].layers) == [1]
    with pytest.raises(Fault, match=r"This model has layers 0 to \d; there is no layer 7\."):
        model.embed(["dog"], layer=7)
    with pytest.raises(TypeError, match=r"write embed\(\[text\]\)"):
        model.embed("dog")
    with pytest.raises(Fault, match="Text 2: it has 22 tokens, but the model takes 20 at most"):
        model.embed(["dog", "dog " * 21])


@pytest.mark.parametrize("family", ["word2vec", "fasttext"])
def test_words_have_one_layer_the_same_in_any_context(family: str, tmp_path: Path) -> None:
    run = open_toy(family, tmp_path)
    word_vectors = run.task.word_vectors()
    first, second = word_vectors.words[:2]
    one, other, blank = make_model(run.task, run.recipe).embed([f"{first} {second}", f"{second} Xyzzy", ""])
    np.testing.assert_array_equal(one.layers[0].numpy(), np.stack([word_vectors[first], word_vectors[second]]))
    np.testing.assert_array_equal(other.layers[0][0].numpy(), word_vectors[second])
    assert bool(other.layers[0][1].any()) == (family == "fasttext")  # it composes unknown words
    assert blank.layers[0].shape == (0, 6)


@pytest.mark.parametrize(
    ("family", "model"), [("rnn", {"layers": 2}), ("encoder", {"pooling": "first", "layers": 2}), ("averaging", {})]
)
def test_the_networks_below_classes_hand_out_their_layers(family: str, model: dict[str, Any], tmp_path: Path) -> None:
    run = open_toy(family, tmp_path, **model)
    classifier = make_model(run.task.double(), run.recipe)
    one, other = classifier.embed(["good or bad", "bad"])
    assert list(one.layers) == list(range(1 + model.get("layers", 0)))
    reader = run.task.model.reader
    batch = run.task.read(["good or bad"])
    torch.testing.assert_close(one.layers[0], reader.inputs(batch.texts.tokens, None)[0])
    torch.testing.assert_close(one.layers[0][2], other.layers[0][0])  # the same word
    if family != "averaging":
        expected = reader.states(batch.texts)[0, -3:]
        torch.testing.assert_close(one.layers[2], expected)
        assert not torch.allclose(one.layers[2][2], other.layers[2][0])


def vectors_of(*texts: list[str]) -> Iterator[TextVectors]:
    """Return texts of one token a word whose vectors in layers 0 and 2 are the numbers of their letters."""
    for words in texts:
        sizes = torch.tensor([[float(len(word))] * 2 for word in words]).reshape(-1, 2)
        yield TextVectors(Words(words, words, range(len(words))), {0: sizes, 2: sizes[:, :1]})


def test_the_file_holds_all_lines_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    assert write_vectors(path, vectors_of(["a", "bee"], [], ["Здравствуй"])) == 3
    arrays = np.load(path)
    assert arrays["tokens"].tolist() == arrays["words"].tolist() == ["a", "bee", "Здравствуй"]
    assert arrays["token_offsets"].tolist() == arrays["word_offsets"].tolist() == [0, 2, 2, 3]
    assert (arrays["word_of_token"].tolist(), arrays["layers"].tolist()) == ([0, 1, 2], [0, 2])
    assert arrays["tokens_0"].tolist() == [[1, 1], [3, 3], [10, 10]]
    assert arrays["tokens_2"].dtype == np.float32
    assert arrays["sentences_2"].tolist() == [[2], [0], [10]]
    again = tmp_path / "again.npz"
    write_vectors(again, vectors_of(["a", "bee"], [], ["Здравствуй"]))
    assert again.read_bytes() == path.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again.npz", "vectors.npz"]


def test_an_endless_word_is_shortened_where_all_have_room_for_the_longest(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    write_vectors(path, vectors_of(["x" * 100_000]))
    assert np.load(path)["words"][0] == "x" * (LONGEST_TEXT - 1) + "…"


def test_the_command_writes_what_python_gives(
    trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import regard

    lines, out = tmp_path / "lines.txt", tmp_path / "vectors.npz"
    lines.write_text("Ana reads.\n\nThe boys read.\n", encoding="utf-8")
    assert main(["embed", str(trained), str(lines), "-o", str(out), "--layer", "1"]) == 0
    assert "Wrote" in capsys.readouterr().err
    arrays = np.load(out)
    first, blank, last = regard.load(trained).embed(["Ana reads.", "", "The boys read."], layer=1)
    np.testing.assert_allclose(arrays["tokens_1"], torch.cat([first.layers[1], last.layers[1]]), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(arrays["sentences_1"][2], last.sentence[1], rtol=1e-4, atol=1e-6)
    assert (arrays["sentences_1"][1] == 0).all()
    assert not blank.text.tokens
    assert arrays["words"].tolist() == ["Ana", "reads", ".", "The", "boys", "read", "."]
    assert "tokens_0" not in arrays


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ([], "name one, as in -o vectors.npz."),
        (["-o", "vectors.txt"], "vectors.txt does not end in .npz"),
        (["-o", "here.npz"], "here.npz exists already; give --overwrite to replace it."),
        (["-o", "none/v.npz"], "There is no folder none to write v.npz into."),
        (["-o", "v.npz", "--layer", "9"], "This model has layers 0 to 1; there is no layer 9."),
        (["-o", "v.npz", "--text", " "], "There is no text to embed; give a line that is not blank."),
        (["-o", "v.npz", "lines.txt"], "Give INPUT or --text, not both."),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_refused_and_nothing_is_left(
    trained: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here.npz").write_text("mine")
    text = [] if "--text" in more else ["--text", "Ana reads."]
    assert main(["embed", str(trained), *text, *more]) == 2
    assert sentence in capsys.readouterr().err
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("here.npz", "mine")]

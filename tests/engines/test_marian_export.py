"""Our models loaded by transformers as Marian models: the same logits, tokens and text."""

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from marian_models import ENGLISH, PORTUGUESE, in_double, make, transformers
from torch import Tensor

from regard.base.faults import Fault
from regard.cli import main
from regard.data.tokenisers.tokeniser import Tokeniser, TokeniserOptions, train_tokeniser
from regard.engines.marian.export import export_marian
from regard.engines.marian.importing import import_marian
from regard.families import check_recipe
from regard.model import make_model
from regard.tasks.translation.building import build_translation
from regard.training.snapshot import named_weights
from regard.verbs.translate.model import TranslationModel, load_translation_model

if TYPE_CHECKING:
    from transformers import MarianMTModel

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")

SIZES = {"encoder_layers": 2, "decoder_layers": 2, "width": 16, "feed_forward": 24, "heads": 4, "longest": 80}


@cache
def tokenisers(options: TokeniserOptions) -> tuple[Tokeniser, Tokeniser]:
    sides = options.by_side()
    texts = [[*ENGLISH, *PORTUGUESE]] if len(sides) == 1 else [ENGLISH, PORTUGUESE]
    trained = [train_tokeniser(side, text) for side, text in zip(sides, texts, strict=True)]
    return trained[0], trained[-1]


def ours(
    tokeniser: dict[str, Any] | None = None,
    family: str = "transformer",
    decoding: dict[str, Any] | None = None,
    seed: int = 4,
    **options: Any,
) -> TranslationModel:
    """Return a model with random weights, norms and biases."""
    table = {"vocabulary": 330} | (tokeniser or {})
    recipe = check_recipe(
        {
            "family": family,
            "data": {"train": "x.tsv", "cleaning": {"longest": 60}, "tokeniser": table},
            "model": (SIZES if family == "transformer" else {"embedding": 8, "width": 8}) | options,
            "decoding": decoding or {},
        }
    )
    task = build_translation(recipe, *tokenisers(recipe.data.tokeniser))
    torch.manual_seed(seed)
    for tensor in named_weights(task).values():
        tensor.add_(torch.randn_like(tensor) * 0.3)
    model = make_model(task, recipe)
    assert isinstance(model, TranslationModel)
    return model


def batch(model: TranslationModel) -> tuple[Tensor, Tensor, Tensor]:
    pairs = list(zip(ENGLISH[:5], PORTUGUESE[:5], strict=True))
    batch = model.task.pair_up(pairs)
    return batch.source, batch.source_lengths, batch.inputs


@torch.no_grad()
def logits(model: TranslationModel) -> Tensor:
    source, lengths, target = batch(model)
    network = model.task.model
    return network.logits(network.write(target, network.read(source, lengths), [])[0])


@torch.no_grad()
def their_logits(theirs: "MarianMTModel", model: TranslationModel) -> Tensor:
    source, lengths, target = batch(model)
    mask = (torch.arange(source.shape[1]) < lengths[:, None]).long()
    return theirs(input_ids=source, attention_mask=mask, decoder_input_ids=target).logits


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"tied": False, "activation": "gelu"},
        {"tokeniser": {"shared": False}, "activation": "swish"},
        {"tokeniser": {"shared": False, "kind": "bpe"}, "tied": False},
        {"shared_embeddings": False, "output_bias": True},
        {"decoder_heads": 2, "decoder_feed_forward": 40, "key_value_heads": None},
    ],
    ids=str,
)
def test_same_logits_in_float64(tmp_path: Path, options: dict[str, Any]) -> None:
    model = ours(**options)
    export_marian(model, tmp_path / "marian")
    theirs = in_double(transformers().MarianMTModel.from_pretrained(tmp_path / "marian"))
    model.task.double()
    torch.testing.assert_close(their_logits(theirs, model), logits(model))


@pytest.mark.parametrize("table", [{}, {"kind": "bpe"}, {"kind": "characters"}, {"shared": False}], ids=str)
def test_same_tokens_and_text(tmp_path: Path, table: dict[str, Any]) -> None:
    model = ours(table)
    export_marian(model, tmp_path / "marian")
    theirs = transformers().MarianTokenizer.from_pretrained(tmp_path / "marian")
    for text in [*ENGLISH[:5], *PORTUGUESE[:5], "Привет 漢", "two  spaces"]:
        source, target = model.task.source, model.task.target
        assert theirs(text).input_ids == [*source.encode(text), source.end]
        assert theirs(text_target=text).input_ids == [*target.encode(text), target.end]
        written = [target.begin, *target.encode(text), target.end, target.pad]
        assert theirs.decode(written, skip_special_tokens=True) == text


@pytest.mark.usefixtures("unchecked_shapes")
def test_the_folder_generates_what_we_translate(tmp_path: Path) -> None:
    """Greedy, because at the limit, where random models end up, transformers treats the end as certain.

    Some random models write the same for any input; which ones depends on the pieces that SentencePiece learns.
    """
    decoding = {"beam": 1, "longest_ratio": 1e-6, "longest_extra": 12}
    models = (ours(decoding=decoding, seed=seed) for seed in range(4, 24))
    model = next(
        model for model in models if len({translation.text for translation in model.translate(ENGLISH[:4])}) > 2
    )
    export_marian(model, tmp_path / "marian")
    theirs = transformers().MarianMTModel.from_pretrained(tmp_path / "marian")
    tokeniser = transformers().MarianTokenizer.from_pretrained(tmp_path / "marian")
    tokens = theirs.generate(**tokeniser(list(ENGLISH[:4]), return_tensors="pt", padding=True))
    expected = [translation.text for translation in model.translate(ENGLISH[:4])]
    assert tokeniser.batch_decode(tokens, skip_special_tokens=True) == expected


def test_there_and_back_again(tmp_path: Path) -> None:
    """A model imported, exported and imported again has the same weights to the last bit."""
    make(tmp_path / "marian", separate=True)
    import_marian(tmp_path / "marian", tmp_path / "ours", code="por")
    first = load_translation_model(tmp_path / "ours", device="cpu")
    export_marian(first, tmp_path / "back")
    import_marian(tmp_path / "back", tmp_path / "again", code="por")
    names = ["weights.safetensors", "source.model", "target.model", "target.json"]
    assert all((tmp_path / "ours" / n).read_bytes() == (tmp_path / "again" / n).read_bytes() for n in names)
    again = load_translation_model(tmp_path / "again", device="cpu")
    assert again.task.source.encode("Books.") == first.task.source.encode("Books.")
    assert again.recipe.decoding == first.recipe.decoding
    assert again.recipe.model == first.recipe.model


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"norm": "before"},
            'cannot express model.norm = "before"; it is always "after"; train a model with --set model.norm=after.',
        ),
        ({"positions": "rotary"}, 'model.positions = "rotary"'),
        ({"positions": "learned"}, 'model.positions = "learned"'),
        ({"score": "bilinear"}, 'model.score = "bilinear"'),
        ({"shared_key_value": True}, "model.shared_key_value = true"),
        ({"join": "averaged"}, 'model.join = "averaged"'),
        ({"key_value_heads": 2}, "model.key_value_heads = 2; each of its heads has its own."),
        ({"tokeniser": {"kind": "words"}}, "data.tokeniser.kind = words cannot be exported"),
        ({"tokeniser": {"shared": False, "ignore_case": True}}, "data.tokeniser.ignore_case cannot be exported"),
        ({"family": "seq2seq"}, "Marian needs a Transformer, and this model is of the family seq2seq."),
    ],
)
def test_what_marian_cannot_express_is_refused(tmp_path: Path, options: dict[str, Any], words: str) -> None:
    with pytest.raises(Fault) as fault:
        export_marian(ours(**options), tmp_path / "marian")
    assert words in str(fault.value)
    assert len(fault.value.sentences) == 1
    assert list(tmp_path.iterdir()) == []


def test_only_an_export_is_replaced(tmp_path: Path) -> None:
    model, out = ours(), tmp_path / "marian"
    export_marian(model, out)
    (out / "source.spm").unlink()
    export_marian(model, out)  # leftovers of one are replaced
    assert (out / "source.spm").is_file()
    (out / "letters.txt").touch()
    with pytest.raises(Fault, match=r"it has letters\.txt"):
        export_marian(model, out)


@pytest.mark.usefixtures("unchecked_shapes")
def test_the_imported_model_is_used_like_any_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = make(tmp_path / "marian", search={"max_length": 12})
    out = str(tmp_path / "ours")

    def said(*arguments: str) -> str:
        assert main(list(arguments)) == 0
        return capsys.readouterr().out

    assert main(["import", "marian", str(tmp_path / "marian"), "-o", out]) == 0
    assert "begin each text with one of >>por<<, >>rus<<" in capsys.readouterr().err
    said("import", "marian", str(tmp_path / "marian"), "-o", out, "--target-language", "por", "--overwrite")
    facts = json.loads(said("info", out, "--json"))
    assert (facts["languages"], facts["source tokens"]) == ("en-por", theirs.config.vocab_size)
    (tmp_path / "text.en").write_text("".join(f"{line}\n" for line in ENGLISH[:3]), encoding="utf-8")
    (tmp_path / "text.pt").write_text("".join(f"{line}\n" for line in PORTUGUESE[:3]), encoding="utf-8")
    assert len(said("translate", out, str(tmp_path / "text.en"), "--beam", "1").splitlines()) == 3
    files = ["--source", str(tmp_path / "text.en"), "--reference", str(tmp_path / "text.pt")]
    scores = json.loads(said("evaluate", out, *files, "--metric", "perplexity", "--json"))["scores"]
    assert scores[0]["value"] > 1
    said("look", out, "--text", "I love books.", "--target", "Amo livros.", "-o", str(tmp_path / "look.json"))
    assert ">>por<<" in (tmp_path / "look.json").read_text(encoding="utf-8")
    assert main(["evaluate", out]) == 2
    assert "names no test data" in capsys.readouterr().err
    assert main(["train", f"{out}/recipe.toml", "--out", str(tmp_path / "run")]) == 2
    assert "its training text is not here" in capsys.readouterr().err

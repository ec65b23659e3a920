"""Imported Marian models: the same logits, attention and outputs as transformers."""

import io
import json
import weakref
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch
from marian_models import ENGLISH, SEARCH, in_double, make, transformers
from safetensors.torch import load_file, save, save_file
from torch import Tensor

from regard.attention import watching
from regard.base.recipe import check
from regard.decoding.options import DecodingOptions
from regard.engines.hugging_face.files import write_tensors
from regard.engines.marian.config import STOPS, Generation, decoding_table
from regard.engines.marian.importing import NEVER, import_marian
from regard.model import make_model
from regard.training import checkpoint
from regard.verbs.translate.model import TranslationModel, load_translation_model

if TYPE_CHECKING:
    from transformers import MarianMTModel

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")

SHAPES: dict[str, dict[str, Any]] = {
    "as OPUS-MT": {},
    "relu": {"activation_function": "relu"},
    "gelu, other heads and nets in the decoder": {
        "activation_function": "gelu",
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 8,
        "decoder_ffn_dim": 40,
        "encoder_layers": 1,
    },
    "unscaled": {"scale_embedding": False},
    "output layer apart": {"tie_word_embeddings": False},
    "separate vocabularies": {"separate": True},
    "separate, unscaled, output layer apart": {
        "separate": True,
        "scale_embedding": False,
        "tie_word_embeddings": False,
    },
    "one vocabulary, two embeddings": {"share_encoder_decoder_embeddings": False},
}
SOURCE = torch.randint(1, 250, (3, 9), generator=torch.Generator().manual_seed(1))
LENGTHS = torch.tensor([9, 5, 2])
MASK = (torch.arange(9) < LENGTHS[:, None]).long()
TARGET = torch.randint(1, 250, (3, 7), generator=torch.Generator().manual_seed(2))


def imported(folder: Path, **more: Any) -> TranslationModel:
    out = folder.with_name(f"{folder.name} imported")
    import_marian(folder, out, **more)
    return load_translation_model(out, device="cpu")


@torch.no_grad()
def logits(model: TranslationModel, target: Tensor = TARGET) -> Tensor:
    network = model.task.model
    return network.logits(network.write(target, network.read(SOURCE, LENGTHS), [])[0])


@torch.no_grad()
def their_logits(model: "MarianMTModel", target: Tensor = TARGET) -> Tensor:
    return model(input_ids=SOURCE, attention_mask=MASK, decoder_input_ids=target).logits


def assert_close_in_float32(found: Tensor, expected: Tensor, config: Any) -> None:
    """Allow for rounding on the way to a logit, in any order of summation.

    An error grows with the number of terms added in sequence: those of every layer, and of the last product.
    """
    layers = config.encoder_layers + config.decoder_layers
    terms = layers * (config.d_model + max(config.encoder_ffn_dim, config.decoder_ffn_dim)) + config.d_model
    bound = terms * torch.finfo(torch.float32).eps * float(expected.abs().max())
    torch.testing.assert_close(found, expected, rtol=0.0, atol=bound)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_same_logits_in_float64(tmp_path: Path, shape: dict[str, Any]) -> None:
    """Padding, which is never written, is excluded."""
    theirs = in_double(make(tmp_path / "marian", **shape))
    ours = imported(tmp_path / "marian")
    ours.task.double()
    pad = theirs.config.pad_token_id
    ours_found, expected = logits(ours), their_logits(theirs)
    assert (ours_found[:, :, pad] < NEVER / 2).all()
    ours_found[:, :, pad] = expected[:, :, pad] = 0
    torch.testing.assert_close(ours_found, expected)


@pytest.mark.parametrize("shape", [{}, {"scale_embedding": False, "d_model": 24}], ids=["scaled", "unscaled"])
def test_same_logits_in_float32(tmp_path: Path, shape: dict[str, Any]) -> None:
    """With transformers' own sinusoids, starting with padding as a search does."""
    theirs = make(tmp_path / "marian", **shape)
    pad = theirs.config.pad_token_id
    ours = imported(tmp_path / "marian")
    assert ours.task.begin == pad
    inputs = torch.cat([torch.full((3, 1), pad), TARGET], dim=1)
    ours_found, expected = logits(ours, inputs), their_logits(theirs, inputs)
    assert_close_in_float32(ours_found[:, :, :pad], expected[:, :, :pad], theirs.config)


def test_older_folders_share_embeddings_whose_output_layer_is_apart(tmp_path: Path) -> None:
    theirs = make(tmp_path / "marian", tie_word_embeddings=False)
    tensors = load_file(tmp_path / "marian" / "model.safetensors")
    for side, module in (("encoder", theirs.model.encoder), ("decoder", theirs.model.decoder)):
        del tensors[f"model.{side}.embed_tokens.weight"]
        module.embed_tokens.weight.data.copy_(tensors["model.shared.weight"])
    save_file(tensors, tmp_path / "marian" / "model.safetensors")
    ours = imported(tmp_path / "marian")
    assert ours.recipe.model.shared_embeddings
    assert not ours.recipe.model.tied
    pad = theirs.config.pad_token_id
    assert_close_in_float32(logits(ours)[:, :, :pad], their_logits(theirs)[:, :, :pad], theirs.config)


def test_same_attention(tmp_path: Path) -> None:
    theirs = in_double(make(tmp_path / "marian"))
    theirs.set_attn_implementation("eager")
    ours = imported(tmp_path / "marian")
    ours.task.double()
    with watching(ours) as gazes:
        logits(ours)
    with torch.no_grad():
        seen = theirs(input_ids=SOURCE, attention_mask=MASK, decoder_input_ids=TARGET, output_attentions=True)
    for side, expected in {"source": seen.encoder_attentions, "target": seen.cross_attentions}.items():
        weights = [gaze.weights for gaze in gazes if (gaze.looks_from, gaze.looks_at) == (side, "source")]
        assert len(weights) == len(expected)
        for mine, other in zip(weights, expected, strict=True):
            torch.testing.assert_close(mine[0], other[0])  # the row without padding


def test_a_pickle_is_read_like_safetensors(tmp_path: Path) -> None:
    """As OPUS-MT was first published: every name of a tied matrix, sinusoids, and no archive in the oldest."""
    folder = tmp_path / "marian"
    theirs = make(folder)
    imported(folder)
    weights = (tmp_path / "marian imported" / checkpoint.WEIGHTS).read_bytes()
    (folder / "model.safetensors").unlink()
    state = theirs.state_dict()
    assert {"lm_head.weight", "model.shared.weight", "model.encoder.embed_positions.weight"} <= state.keys()
    for archive in (True, False):
        torch.save(state, folder / "pytorch_model.bin", _use_new_zipfile_serialization=archive)
        imported(folder)
        assert (tmp_path / "marian imported" / checkpoint.WEIGHTS).read_bytes() == weights


def test_half_precision_is_widened(tmp_path: Path) -> None:
    make(tmp_path / "marian").half().save_pretrained(tmp_path / "marian")
    theirs = transformers().MarianMTModel.from_pretrained(tmp_path / "marian", dtype=torch.float32)
    ours = imported(tmp_path / "marian")
    pad = theirs.config.pad_token_id
    assert_close_in_float32(logits(ours)[:, :, :pad], their_logits(theirs)[:, :, :pad], theirs.config)


def test_the_search_may_stand_in_the_configuration(tmp_path: Path) -> None:
    """Older folders have it there."""
    folder = tmp_path / "marian"
    make(folder)
    with_both = imported(folder).recipe.decoding
    (folder / "generation_config.json").unlink()
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | SEARCH))
    assert imported(folder).recipe.decoding == with_both
    assert (with_both.beam, with_both.length_penalty, with_both.length_penalty_kind) == (4, 1.0, "average")
    assert (with_both.longest_extra, with_both.stop) == (29, "settled")


@pytest.mark.parametrize(
    ("given", "option", "value"),
    [
        ({"num_beams": 6}, "beam", 6),
        ({"length_penalty": 0.5}, "length_penalty", 0.5),
        ({"early_stopping": True}, "stop", "first"),
        ({"early_stopping": "never"}, "stop", "exhaustive"),
        ({"max_length": 11}, "longest_extra", 10),
        ({"min_length": 4}, "shortest", 3),
        ({"no_repeat_ngram_size": 3}, "unrepeated", 3),
        ({"repetition_penalty": 1.5}, "repetition_penalty", 1.5),
    ],
)
def test_every_setting_of_the_search_arrives(given: dict[str, Any], option: str, value: Any) -> None:
    usual, changed = (decoding_table(check(Generation, table), 64, print) for table in ({}, given))
    assert changed[option] == value != usual[option]
    assert changed | {option: usual[option]} == usual
    assert (
        decoding_table(check(Generation, {"max_length": 5000}), 64, print)["longest_extra"] == 64
    )  # everything it can write


def test_what_cannot_be_kept_of_a_search_is_told() -> None:
    remarks: list[str] = []
    assert decoding_table(check(Generation, {"length_penalty": -1.0}), 64, remarks.append) == {}
    assert remarks == [
        "Its search cannot be used (length_penalty is -1.0, expected 0.0 or more); regard's default is used instead."
    ]
    decoding_table(check(Generation, {"no_repeat_ngram_size": 2, "renormalize_logits": True}), 64, remarks.append)
    assert "redistributes the probability of forbidden repeats" in remarks[1]


def test_forbidden_tokens_are_never_written(tmp_path: Path) -> None:
    make(tmp_path / "marian", search={"bad_words_ids": [[7], [8, 9], [0]]})
    remarks: list[str] = []
    bias = imported(tmp_path / "marian", remark=remarks.append).task.model.output_bias
    pad = len(bias) - 1
    assert (bias == NEVER).nonzero().flatten().tolist() == [7, pad]  # the end cannot be forbidden
    assert "Forbidden phrases of several tokens are dropped from its search." in remarks


def test_weights_are_written_as_the_library_would_and_one_by_one() -> None:
    tensors = {name: torch.randn(shape) for name, shape in {"b": (2, 3), "a.é": (4,), "c": (0, 2), "aa": ()}.items()}
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    alive: list[weakref.ref[Tensor]] = []

    def made(name: str) -> Tensor:
        assert all(earlier() is None for earlier in alive)
        tensor = tensors[name].clone()
        alive.append(weakref.ref(tensor))
        return tensor

    file = io.BytesIO()
    write_tensors(file, shapes, made, {"format": "pt"})
    assert len(alive) == 4
    assert file.getvalue() == save(tensors, {"format": "pt"})
    plain = io.BytesIO()
    write_tensors(plain, shapes, tensors.__getitem__, None)
    assert plain.getvalue() == checkpoint.weights_to_bytes(tensors)


# Searches

SENTENCES = list(ENGLISH[:16])


def outputs(model: "MarianMTModel", folder: Path, **settings: Any) -> list[list[str]]:
    """Return what transformers finds, in pieces, without padding and the end."""
    tokeniser = transformers().MarianTokenizer.from_pretrained(folder)
    batch = tokeniser(SENTENCES, return_tensors="pt", padding=True)
    rows = model.generate(**batch, **settings).tolist()
    return [tokeniser.convert_ids_to_tokens(row, skip_special_tokens=True) for row in rows]


def ours_with(model: TranslationModel, **search: Any) -> list[list[str]]:
    changed = check(DecodingOptions, model.recipe.decoding.model_dump() | search)
    searching = make_model(model.task, model.recipe.model_copy(update={"decoding": changed}))
    return [translated.tokens for translated in searching.translate(SENTENCES)]


@pytest.fixture(scope="module")
def ending(tmp_path_factory: pytest.TempPathFactory) -> "tuple[MarianMTModel, Path, TranslationModel]":
    """Return a model that never repeats a token and so ends before the limit; padding is always improbable."""
    folder = tmp_path_factory.mktemp("ending") / "marian"
    search = {"no_repeat_ngram_size": 1, "min_length": 5, "renormalize_logits": False}
    theirs = make(folder, search=search)
    theirs.final_logits_bias[0, 0], theirs.final_logits_bias[0, theirs.config.pad_token_id] = 6.0, -30.0
    theirs.save_pretrained(folder)
    return theirs, folder, imported(folder)


@pytest.mark.usefixtures("unchecked_shapes")
def test_same_outputs_as_the_folder_says(ending: "tuple[MarianMTModel, Path, TranslationModel]") -> None:
    theirs, folder, ours = ending
    expected = outputs(theirs, folder)
    assert max(map(len, expected)) < 28  # all end by themselves; at the limit transformers treats the end as certain
    assert len(set(map(tuple, expected))) >= 3
    assert ours_with(ours) == expected


@pytest.mark.one_in(3)
@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize(
    ("beam", "penalty", "stopping"),
    [(1, 1.0, False), (4, 1.0, False), (4, 0.3, True), (3, 0.5, "never"), (6, 0.0, False)],
)
def test_same_outputs_with_any_beam(
    ending: "tuple[MarianMTModel, Path, TranslationModel]", beam: int, penalty: float, stopping: bool | str
) -> None:
    theirs, folder, ours = ending
    expected = outputs(theirs, folder, num_beams=beam, length_penalty=penalty, early_stopping=stopping)
    assert 4 <= min(map(len, expected)) <= max(map(len, expected)) < 28
    assert len({tuple(tokens) for tokens in expected}) > 5
    assert ours_with(ours, beam=beam, length_penalty=penalty, stop=STOPS[stopping]) == expected

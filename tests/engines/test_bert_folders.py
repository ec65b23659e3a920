"""BERT to and from Hugging Face folders: outputs match transformers in float64 and a computation by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional as F

import regard
from regard.base.faults import Fault
from regard.cli import main
from regard.data.tokenisers.wordpiece import MARKS
from regard.engines.bert.importing import import_bert

PIECES = [*MARKS, *"abcdefgh", *(f"##{letter}" for letter in "abcdefgh"), "é", "Ab"]
SIZES = {
    "vocab_size": len(PIECES),
    "hidden_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 12,
    "max_position_embeddings": 20,
}
TEXTS = ["ab [MASK] ce!", "[MASK]"]


def drawn_weights(head: bool = True, pooler: bool = True, prefix: str = "bert.") -> dict[str, Tensor]:
    """Return random BERT weights under transformers' names."""
    draw, width, inner = torch.Generator().manual_seed(1), SIZES["hidden_size"], SIZES["intermediate_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (SIZES["vocab_size"], width),
        "embeddings.position_embeddings.weight": (SIZES["max_position_embeddings"], width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    linear = {"attention.self.query": (width, width), "attention.self.key": (width, width)}
    linear |= {"attention.self.value": (width, width), "attention.output.dense": (width, width)}
    linear |= {"intermediate.dense": (inner, width), "output.dense": (width, inner)}
    for layer in range(SIZES["num_hidden_layers"]):
        before = f"encoder.layer.{layer}"
        for name, shape in linear.items():
            shapes |= {f"{before}.{name}.weight": shape, f"{before}.{name}.bias": shape[:1]}
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes |= {f"{before}.{name}.weight": (width,), f"{before}.{name}.bias": (width,)}
    if pooler:
        shapes |= {"pooler.dense.weight": (width, width), "pooler.dense.bias": (width,)}
    shapes = {prefix + name: shape for name, shape in shapes.items()}
    if head:
        before = "cls.predictions.transform"
        shapes |= {f"{before}.dense.weight": (width, width), f"{before}.dense.bias": (width,)}
        shapes |= {f"{before}.LayerNorm.weight": (width,), f"{before}.LayerNorm.bias": (width,)}
        shapes |= {"cls.predictions.bias": (SIZES["vocab_size"],)}
    return {name: torch.randn(shape, generator=draw) * 0.5 for name, shape in shapes.items()}


def write_folder(folder: Path, weights: dict[str, Tensor], **changes: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "bert", **SIZES, **changes}))
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in PIECES), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": True}))
    save_file(weights, folder / "model.safetensors")
    return folder


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    import_bert(write_folder(tmp_path / "theirs", drawn_weights()), tmp_path / "ours")
    return tmp_path / "ours"


def in_float64(folder: Path) -> Any:
    return regard.load(folder, device="cpu").task.double().eval()


def by_hand(weights: dict[str, Tensor], tokens: Tensor) -> Tensor:
    """Return the logits of one row of tokens, step by step as in the paper."""
    w = {name: weight.double() for name, weight in weights.items()}
    width, heads = SIZES["hidden_size"], SIZES["num_attention_heads"]

    def linear(states: Tensor, name: str) -> Tensor:
        return states @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    def norm(states: Tensor, name: str) -> Tensor:
        centred = states - states.mean(-1, keepdim=True)
        scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-12).sqrt()
        return scaled * w[f"{name}.weight"] + w[f"{name}.bias"]

    words = w["bert.embeddings.word_embeddings.weight"]
    states = words[tokens] + w["bert.embeddings.position_embeddings.weight"][: len(tokens)]
    states = norm(states + w["bert.embeddings.token_type_embeddings.weight"][0], "bert.embeddings.LayerNorm")
    for layer in range(SIZES["num_hidden_layers"]):
        before = f"bert.encoder.layer.{layer}"
        query, key, value = (
            linear(states, f"{before}.attention.self.{name}").view(len(tokens), heads, -1).transpose(0, 1)
            for name in ("query", "key", "value")
        )
        looks = ((query @ key.mT) / (width // heads) ** 0.5).softmax(-1) @ value
        mixed = linear(looks.transpose(0, 1).reshape(len(tokens), width), f"{before}.attention.output.dense")
        states = norm(states + mixed, f"{before}.attention.output.LayerNorm")
        inside = F.gelu(linear(states, f"{before}.intermediate.dense"))
        states = norm(states + linear(inside, f"{before}.output.dense"), f"{before}.output.LayerNorm")
    guess = norm(F.gelu(linear(states, "cls.predictions.transform.dense")), "cls.predictions.transform.LayerNorm")
    return guess @ words.T + w["cls.predictions.bias"]


def test_an_imported_model_gives_what_is_reckoned_by_hand(imported: Path) -> None:
    task = in_float64(imported)
    tokens = task.read(TEXTS[:1]).tensors.tokens
    logits = task.model.logits(task.model.reader.read(tokens)[-1])[0]
    torch.testing.assert_close(logits, by_hand(drawn_weights(), tokens[0]))


def test_states_and_logits_are_those_of_transformers(tmp_path: Path, imported: Path) -> None:
    import transformers

    task, folder = in_float64(imported), tmp_path / "theirs"
    theirs = transformers.BertForMaskedLM.from_pretrained(folder).double().eval()
    encoder = transformers.BertModel.from_pretrained(folder).double().eval()
    batch = task.read(TEXTS)
    tokens, lengths = batch.tensors.tokens, batch.lengths
    real = torch.arange(tokens.shape[1]) < lengths[:, None]
    segments = (torch.arange(tokens.shape[1]) > 2).long().expand_as(tokens)
    inputs = {"input_ids": tokens, "attention_mask": real.long(), "token_type_ids": segments}
    with torch.no_grad():
        ours = task.model.reader.read(tokens, lengths, segments)
        expected = encoder(**inputs, output_hidden_states=True)
        logits = theirs(**inputs).logits
    for mine, other in zip(ours[1:], expected.hidden_states[1:], strict=True):
        torch.testing.assert_close(mine[real], other[real])
    torch.testing.assert_close(task.model.logits(ours[-1])[real], logits[real])
    torch.testing.assert_close(torch.tanh(task.model.reader.pooler(ours[-1][:, 0])), expected.pooler_output)


def test_what_is_exported_is_what_was_imported_and_transformers_reads_it(tmp_path: Path, imported: Path) -> None:
    import transformers

    out = tmp_path / "exported"
    assert main(["export", str(imported), "--to", "bert", "-o", str(out)]) == 0
    before, after = drawn_weights(), load_file(out / "model.safetensors")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    model, loading = transformers.BertForMaskedLM.from_pretrained(out, output_loading_info=True)
    assert not loading["missing_keys"]
    tokeniser = transformers.BertTokenizer.from_pretrained(out)
    task = in_float64(imported)
    for text in ["ab cé [MASK]!", "Ab AB"]:
        tokens = task.tokeniser.encode(text)
        assert tokeniser(text)["input_ids"] == [task.tokeniser.begin, *tokens, task.tokeniser.end]
    batch = task.read(TEXTS[:1])
    with torch.no_grad():
        theirs = model.double().eval()(input_ids=batch.tensors.tokens).logits
        torch.testing.assert_close(task.model.logits(task.model.reader.read(batch.tensors.tokens)[-1]), theirs)
    again = tmp_path / "again"
    assert main(["import", "bert", str(out), "-o", str(again)]) == 0
    assert (again / "weights.safetensors").read_bytes() == (imported / "weights.safetensors").read_bytes()


def test_tokenisers_of_newer_folders_are_read(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "theirs", drawn_weights())
    (folder / "vocab.txt").unlink()
    numbers = {piece: number for number, piece in enumerate(PIECES)}
    whole = {"model": {"type": "WordPiece", "vocab": numbers}, "normalizer": {"lowercase": False}}
    (folder / "tokenizer.json").write_text(json.dumps(whole))
    import_bert(folder, tmp_path / "ours")
    tokeniser = regard.load(tmp_path / "ours", device="cpu").task.tokeniser
    assert tokeniser.pieces(tokeniser.encode("Ab é")) == ["Ab", "é"]


def test_an_encoder_alone_and_old_names_of_norms_are_read(tmp_path: Path) -> None:
    weights = drawn_weights(head=False, pooler=False, prefix="")
    old = {name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): name for name in weights}
    folder = write_folder(tmp_path / "theirs", {name: weights[new] for name, new in old.items()})
    remarks: list[str] = []
    import_bert(folder, tmp_path / "ours", remarks.append)
    assert remarks == ["It has no layer to fill masks; until one is trained, its answers mean nothing."]
    reader = in_float64(tmp_path / "ours").model.reader
    assert reader.pooler is None
    torch.testing.assert_close(reader.norm.weight, weights["embeddings.LayerNorm.weight"].double())


def without(name: str) -> dict[str, Tensor]:
    return {key: tensor for key, tensor in drawn_weights().items() if key != name}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda folder: (folder / "vocab.txt").unlink(), "has neither vocab.txt nor tokenizer.json"),
        (
            lambda folder: (folder / "vocab.txt").write_text("[PAD]\na\n"),
            "has 2 pieces, but config.json says 23; it belongs to another model",
        ),
        (
            lambda folder: (folder / "vocab.txt").write_text("".join(f"piece{n}\n" for n in range(23))),
            r"is not a vocabulary of a BERT: it has no \[PAD\]",
        ),
        (lambda folder: (folder / "vocab.txt").write_bytes(b"\xff\n"), "is not UTF-8 text"),
        (
            lambda folder: save_file(without("cls.predictions.bias"), folder / "model.safetensors"),
            "has no 'cls.predictions.decoder.bias'",
        ),
        (
            lambda folder: save_file(drawn_weights() | {"other": torch.ones(1)}, folder / "model.safetensors"),
            "holds 'other', which does not fit config.json",
        ),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"no"), "is damaged"),
    ],
)
def test_folders_of_something_else_are_refused(tmp_path: Path, change: Any, words: str) -> None:
    folder = write_folder(tmp_path / "theirs", drawn_weights())
    change(folder)
    with pytest.raises(Fault, match=words):
        import_bert(folder, tmp_path / "ours")
    assert not (tmp_path / "ours").exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"model_type": "gpt2"}, "describes a model of type 'gpt2'; only 'bert' can be imported"),
        ({"hidden_act": "gelu_new"}, "hidden_act is 'gelu_new', but regard supports only relu, gelu, swish"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type is 'relative_key'"),
        ({"hidden_size": 16}, r"has the shape \(23, 8\), but config.json says \(23, 16\)"),
    ],
)
def test_models_that_ours_is_not_are_refused(tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    folder = write_folder(tmp_path / "theirs", drawn_weights(), **changes)
    with pytest.raises(Fault, match=words):
        import_bert(folder, tmp_path / "ours")

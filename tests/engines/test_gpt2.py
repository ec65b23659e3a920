"""GPT-2 models read and written: logits by formula and by transformers, and refused folders."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from gpt2_models import SIZES, WORDS, plain_logits, weights, write_gpt2
from safetensors.torch import load_file, save_file

import regard
from regard.base.faults import Fault
from regard.engines.gpt2.export import export_gpt2
from regard.engines.gpt2.importing import import_gpt2
from regard.verbs.generate.model import LanguageModel

TOKENS = torch.randint(len(WORDS), (2, 9), generator=torch.Generator().manual_seed(1))


def imported(folder: Path, source: Path) -> Any:
    import_gpt2(source, folder / "imported")
    return regard.load(folder / "imported", device="cpu")


def logits(model: Any) -> torch.Tensor:
    network = model.task.model.double()
    with torch.no_grad():
        return network.logits(network.read(TOKENS, network.begin(2)).states)


@pytest.mark.parametrize(("prefix", "tied"), [("", True), ("transformer.", False)])
def test_an_imported_model_gives_the_logits_of_the_formula(prefix: str, tied: bool, tmp_path: Path) -> None:
    sizes = SIZES | {"tie_word_embeddings": tied}
    model = imported(tmp_path, write_gpt2(tmp_path / "theirs", prefix, tie_word_embeddings=tied))
    exact = {name: tensor.double() for name, tensor in weights(sizes).items()}
    torch.testing.assert_close(logits(model), plain_logits(exact, sizes, TOKENS))


def test_it_gives_the_logits_of_transformers_and_so_does_transformers_with_what_is_exported(tmp_path: Path) -> None:
    import transformers

    torch.manual_seed(0)
    sizes = SIZES | {"n_inner": 20, "initializer_range": 0.4}
    theirs = transformers.GPT2LMHeadModel(transformers.GPT2Config(**sizes)).eval()
    source = write_gpt2(tmp_path / "theirs")
    theirs.save_pretrained(source)
    model = imported(tmp_path, source)
    export_gpt2(model, tmp_path / "back")
    back = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "back").eval()
    with torch.no_grad():
        expected = theirs.double()(TOKENS).logits
        torch.testing.assert_close(logits(model), expected)
        torch.testing.assert_close(back.double()(TOKENS).logits, expected)


def test_what_is_exported_is_imported_again_to_the_same_bits(tmp_path: Path) -> None:
    first = imported(tmp_path, write_gpt2(tmp_path / "theirs"))
    export_gpt2(first, tmp_path / "exported")
    import_gpt2(tmp_path / "exported", tmp_path / "again")
    folders = [tmp_path / "imported", tmp_path / "again"]
    for name in ("weights.safetensors", "tokeniser.json"):
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    (tmp_path / "exported" / "vocab.json").unlink()
    import_gpt2(tmp_path / "exported", tmp_path / "from-one-file")
    assert (tmp_path / "from-one-file" / "tokeniser.json").read_bytes() == (folders[0] / "tokeniser.json").read_bytes()


def test_an_imported_model_writes_is_scored_and_reads_line_breaks_as_text(tmp_path: Path) -> None:
    model = imported(tmp_path, write_gpt2(tmp_path / "theirs"))
    assert isinstance(model, LanguageModel)
    ((generated,),) = model.generate(["hello\n\nwo"], tokens=4, sample={"seed": 5})
    assert generated.text.startswith("hello\n\nwo")
    assert model.task.read(["hello\n\nwo"]).tokens[0] == [WORDS.index(word) for word in ("hello", "Ċ", "Ċ", "w", "o")]
    (scored,) = model.score(["hello"])
    assert scored.tokens == ["hello", "<|endoftext|>"]
    assert scored.unknown == 0


def without(name: str) -> Any:
    def change(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        del tensors[name]
        save_file(tensors, folder / "model.safetensors")

    return change


def rewritten(name: str, **changes: Any) -> Any:
    def change(folder: Path) -> None:
        table = json.loads((folder / name).read_text(encoding="utf-8"))
        (folder / name).write_text(json.dumps(table | changes), encoding="utf-8")

    return change


def other_merges(folder: Path) -> None:
    (folder / "merges.txt").write_text("#version: 0.2\nh e\nhe y\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without("h.1.mlp.c_fc.bias"), "has no 'h.1.mlp.c_fc.bias', which config.json requires"),
        (rewritten("config.json", model_type="bert"), "describes a model of type 'bert'; only 'gpt2' can be imported"),
        (rewritten("config.json", n_layer=1), "holds 'h.1.attn.c_attn.bias', which does not fit config.json"),
        (
            rewritten("config.json", n_embd=24),
            "'wte.weight' in .* has the shape .265, 12., but config.json says .265",
        ),
        (rewritten("config.json", scale_attn_by_inverse_layer_idx=True), "says scale_attn_by_inverse_layer_idx = True"),
        (
            rewritten("config.json", activation_function="mish"),
            "activation is 'mish', but regard supports only gelu_new",
        ),
        (
            rewritten("vocab.json", walrus=len(WORDS)),
            "has 266 words, .* of 265 tokens; the two belong to different",
        ),
        (other_merges, "it joins 'he' and 'y', but its vocabulary has no 'hey': the two belong to different models"),
        (lambda folder: (folder / "vocab.json").unlink(), "has neither vocab.json and merges.txt nor tokenizer.json"),
        (lambda folder: (folder / "model.safetensors").unlink(), "has neither model.safetensors nor pytorch_model.bin"),
    ],
)
def test_a_folder_that_is_no_such_model_is_refused(change: Any, sentence: str, tmp_path: Path) -> None:
    source = write_gpt2(tmp_path / "theirs")
    change(source)
    with pytest.raises(Fault, match=sentence):
        import_gpt2(source, tmp_path / "imported")
    assert not (tmp_path / "imported").exists()

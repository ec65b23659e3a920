"""GPT-2 models as Hugging Face folders: random weights and a tokeniser of a few byte pairs."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from regard.data.tokenisers.byte_pairs import byte_symbols

PAIRS = [("h", "e"), ("l", "l"), ("he", "ll"), ("hell", "o"), ("Ġ", "w"), ("Ġw", "o"), ("Ċ", "Ċ"), ("Ã", "©")]
END = "<|endoftext|>"
WORDS = [*byte_symbols(), *("".join(pair) for pair in PAIRS), END]
SIZES: dict[str, Any] = {
    "vocab_size": len(WORDS),
    "n_positions": 16,
    "n_embd": 12,
    "n_layer": 2,
    "n_head": 3,
    "eos_token_id": len(WORDS) - 1,
    "bos_token_id": len(WORDS) - 1,
}


def weights(sizes: dict[str, Any], prefix: str = "") -> dict[str, Tensor]:
    """Return all tensors of a GPT-2 under their published names."""
    torch.manual_seed(3)
    width, inside = sizes["n_embd"], sizes.get("n_inner") or 4 * sizes["n_embd"]
    shapes: dict[str, tuple[int, ...]] = {
        "wte.weight": (sizes["vocab_size"], width),
        "wpe.weight": (sizes["n_positions"], width),
    }
    for number in range(sizes["n_layer"]):
        matrices = {"attn.c_attn": (width, 3 * width), "attn.c_proj": (width, width)}
        matrices |= {"mlp.c_fc": (width, inside), "mlp.c_proj": (inside, width)}
        for name, shape in matrices.items():
            shapes |= {f"h.{number}.{name}.weight": shape, f"h.{number}.{name}.bias": shape[1:]}
        for name in ("ln_1", "ln_2"):
            shapes |= {f"h.{number}.{name}.{kind}": (width,) for kind in ("weight", "bias")}
    shapes |= {"ln_f.weight": (width,), "ln_f.bias": (width,)}
    tensors = {prefix + name: torch.randn(shape) * 0.4 for name, shape in shapes.items()}
    if not sizes.get("tie_word_embeddings", True):
        tensors["lm_head.weight"] = torch.randn(shapes["wte.weight"]) * 0.4
    return tensors


def write_gpt2(folder: Path, prefix: str = "", **changes: Any) -> Path:
    """Write a folder as transformers does."""
    folder.mkdir(exist_ok=True)
    sizes = SIZES | changes
    (folder / "config.json").write_text(json.dumps({"model_type": "gpt2", **sizes}), encoding="utf-8")
    (folder / "vocab.json").write_text(json.dumps({word: n for n, word in enumerate(WORDS)}), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in PAIRS), ""]
    (folder / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
    save_file(weights(sizes, prefix), folder / "model.safetensors")
    return folder


def plain_logits(tensors: dict[str, Tensor], sizes: dict[str, Any], tokens: Tensor) -> Tensor:
    """Compute GPT-2's logits in one place: the reference that is always available."""
    width, heads = sizes["n_embd"], sizes["n_head"]

    def norm(name: str, states: Tensor) -> Tensor:
        centred = states - states.mean(-1, keepdim=True)
        unit = centred / (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt()
        return unit * tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def apply(name: str, states: Tensor) -> Tensor:
        return states @ tensors[f"{name}.weight"] + tensors[f"{name}.bias"]

    def gelu(x: Tensor) -> Tensor:
        return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))

    time = tokens.shape[1]
    states = tensors["wte.weight"][tokens] + tensors["wpe.weight"][:time]
    ahead = torch.ones(time, time).triu(1).bool()
    for number in range(sizes["n_layer"]):
        block = f"h.{number}"
        parts = apply(f"{block}.attn.c_attn", norm(f"{block}.ln_1", states)).split(width, -1)
        query, key, value = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in parts)
        scores = (query @ key.mT) * (width // heads) ** -0.5
        looked = scores.masked_fill(ahead, -torch.inf).softmax(-1) @ value
        states = states + apply(f"{block}.attn.c_proj", looked.transpose(1, 2).flatten(2))
        inside = gelu(apply(f"{block}.mlp.c_fc", norm(f"{block}.ln_2", states)))
        states = states + apply(f"{block}.mlp.c_proj", inside)
    return norm("ln_f", states) @ tensors.get("lm_head.weight", tensors["wte.weight"]).T

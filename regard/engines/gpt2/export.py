"""Write one of our decoder-only Transformers so that transformers' GPT2LMHeadModel loads it with the same logits."""

from pathlib import Path

import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.files import whole_file, write_file
from regard.base.progress import Remark, ignore_remark
from regard.data.tokenisers.bytewise import ByteTokeniser
from regard.engines.folders import FOLDERS, GPT2, whole_folder
from regard.engines.gpt2.config import config_table
from regard.engines.gpt2.tokenisers import as_byte_pairs, tokeniser_files
from regard.engines.gpt2.weights import PREFIX, THEIR_OUT, parts_of
from regard.engines.hugging_face.files import CONFIG, GENERATION, Shape, to_json, write_tensors
from regard.engines.hugging_face.stored import SAFETENSORS
from regard.families import with_article
from regard.loading import Loaded
from regard.models.gpt.network import GPT
from regard.training.snapshot import named_weights


def export_gpt2(model: Loaded, out: Path, remark: Remark = ignore_remark) -> None:
    """Write a model as a Hugging Face folder `out`; refuse what GPT-2 cannot express, naming the option."""
    task = model.task
    if not isinstance(getattr(task, "model", None), GPT):
        raise Fault(f"GPT-2 is a decoder-only Transformer, and this model is {with_article(model.recipe.family)}.")
    network, tokeniser = task.model, as_byte_pairs(task.tokeniser)
    options, end = network.options, task.end
    files = {CONFIG: to_json(config_table(options, tokeniser.size, end)), **tokeniser_files(tokeniser, options.context)}
    never = {"suppress_tokens": list(network.never)} if network.never else {}
    files[GENERATION] = to_json({"bos_token_id": end, "eos_token_id": end, "pad_token_id": end, **never})
    weights = named_weights(task)
    parts = {
        part.theirs if part.theirs == THEIR_OUT else PREFIX + part.theirs: part
        for part in parts_of(options.layers, options.tied)
    }

    def tensor(name: str) -> Tensor:
        part = parts[name]
        return part.stored([weights[name_of_ours] for name_of_ours in part.ours])

    with torch.no_grad(), whole_folder(out, FOLDERS[GPT2]) as partial:
        for name, content in files.items():
            write_file(partial / name, content)
        shapes: dict[str, Shape] = {name: tuple(tensor(name).shape) for name in parts}
        with whole_file(partial / SAFETENSORS) as file:
            write_tensors(file, shapes, tensor, {"format": "pt"})
    if isinstance(task.tokeniser, ByteTokeniser):
        remark("Its lines end with </s>: in other tools, write that instead of line breaks, and text in NFC.")

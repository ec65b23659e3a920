"""Write one of our BERTs so that transformers' BertForMaskedLM loads it and gives the same logits."""

from pathlib import Path

from torch import Tensor

from regard.base.faults import Fault
from regard.base.files import whole_file, write_file
from regard.engines.bert.config import config_table
from regard.engines.bert.vocabularies import vocabulary_files
from regard.engines.bert.weights import weight_parts
from regard.engines.folders import BERT, FOLDERS, whole_folder
from regard.engines.hugging_face.files import CONFIG, Shape, to_json, write_tensors
from regard.engines.hugging_face.stored import SAFETENSORS
from regard.loading import Loaded
from regard.tasks.masked.task import MaskedTokens
from regard.training.snapshot import named_weights


def export_bert(model: Loaded, place: Path) -> None:
    """Write a masked language model into the folder `place`."""
    task = model.task
    if not isinstance(task, MaskedTokens):
        kind = f"a {model.recipe.family} for the task {model.recipe.task}"
        raise Fault(f"Only masked language models can be exported as BERT, and this is {kind}.")
    options, tokeniser = task.model.reader.options, task.tokeniser
    files = {CONFIG: to_json(config_table(options, tokeniser)), **vocabulary_files(tokeniser, options.longest)}
    tensors = _tensors(task)
    shapes: dict[str, Shape] = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    with whole_folder(place, FOLDERS[BERT]) as partial:
        for name, content in files.items():
            write_file(partial / name, content)
        with whole_file(partial / SAFETENSORS) as file:
            write_tensors(file, shapes, tensors.__getitem__, {"format": "pt"})


def _tensors(task: MaskedTokens) -> dict[str, Tensor]:
    """Return the weights by their names there; our combined matrices are split."""
    weights, options = named_weights(task), task.model.reader.options
    return {
        name: piece
        for part in weight_parts(options.layers, options.pooler)
        for name, piece in zip(part.theirs, weights[part.ours].chunk(len(part.theirs)), strict=True)
    }

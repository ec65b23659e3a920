"""A BERT of ours, written so that transformers' BertForMaskedLM loads it and gives the same logits."""

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
    """Write a model of masked tokens into the folder `place`."""
    task = model.task
    if not isinstance(task, MaskedTokens):
        said = f"a {model.recipe.family} for the task {model.recipe.task}"
        raise Fault(f"What transformers reads as a BERT is a model of masked tokens, and this is {said}.")
    options, tokeniser = task.model.reader.options, task.tokeniser
    files = {CONFIG: to_json(config_table(options, tokeniser)), **vocabulary_files(tokeniser, options.longest)}
    tensors = _tensors(task)
    shapes: dict[str, Shape] = {name: tuple(own.shape) for name, own in tensors.items()}
    with whole_folder(place, FOLDERS[BERT]) as beside:
        for name, content in files.items():
            write_file(beside / name, content)
        with whole_file(beside / SAFETENSORS) as file:
            write_tensors(file, shapes, tensors.__getitem__, {"format": "pt"})


def _tensors(task: MaskedTokens) -> dict[str, Tensor]:
    """The weights by their names there; those of ours that hold several are seen in parts."""
    own, options = named_weights(task), task.model.reader.options
    return {
        name: piece
        for part in weight_parts(options.layers, options.pooler)
        for name, piece in zip(part.theirs, own[part.ours].chunk(len(part.theirs)), strict=True)
    }

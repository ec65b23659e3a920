"""Import a BERT from a Hugging Face folder into a model folder that gives the same states and fills masks alike."""

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.base.recipe import write
from regard.base.version import __version__
from regard.engines.bert.config import BertConfig, model_table, read_config
from regard.engines.bert.vocabularies import read_vocabulary
from regard.engines.bert.weights import (
    BIAS,
    HEAD,
    THEIR_BIAS,
    THEIR_POOLER,
    THEIRS,
    TOKENS,
    UNUSED,
    WeightPart,
    weight_parts,
)
from regard.engines.folders import MODEL_FOLDER, whole_folder
from regard.engines.hugging_face.files import Shape, write_tensors
from regard.engines.hugging_face.stored import StoredWeights, open_weights
from regard.families import check_recipe, task_class
from regard.models.shapes import ShapesOnly
from regard.training import checkpoint
from regard.training.snapshot import named_weights

_SPAN = 128  # tokens of a span that an imported model learns from, if it has enough positions
_OLD = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}  # from TensorFlow


def import_bert(
    folder: Path,
    out: Path,
    remark: Callable[[str], None] = lambda text: None,
    progress: Progress = silent,
) -> None:
    """Make a model folder `out` from the BERT in `folder`."""
    if folder.resolve().is_relative_to(out.resolve()):
        raise Fault(f"{out} is or contains the BERT itself; write the imported model elsewhere.")
    config = read_config(folder)
    tokeniser = read_vocabulary(folder, config.vocab_size)
    with open_weights(folder) as stored, whole_folder(out, MODEL_FOLDER) as partial:
        bert = _Bert(config, _Names(stored))
        if not bert.has_head:
            remark("It has no layer to fill masks; until one is trained, its answers mean nothing.")
        recipe = check_recipe(_recipe_table(folder, config, bert.has_pooler, tokeniser.options.model_dump()))
        files = tokeniser.files("tokeniser")
        with ShapesOnly():
            ours = named_weights(task_class(recipe).build(recipe, files))
        shapes = {name: tuple(tensor.shape) for name, tensor in ours.items()}
        bert.check(shapes)
        header = f"Written by regard {__version__}: the recipe of {folder.resolve().name}, a BERT that was imported."
        weights = bert.converted(shapes, progress)
        written = {checkpoint.RECIPE: write(recipe, header).encode(), checkpoint.WEIGHTS: weights}
        checkpoint.update_folder(partial, files | written)


def _recipe_table(folder: Path, config: BertConfig, pooler: bool, spelling: Mapping[str, Any]) -> dict[str, Any]:
    """Return the recipe of an imported model; its training data can only be named."""
    given_options = {name: spelling[name] for name in ("lower_case", "strip_accents") if spelling[name] is not None}
    return {
        "family": "bert",
        "task": "masked",
        "data": {
            "train": f"imported from {folder.resolve().name}; its training text is not here",
            "tokeniser": {"vocabulary": max(16, config.vocab_size), **given_options},
        },
        "model": model_table(config, pooler),
        "training": {"span": min(_SPAN, config.max_position_embeddings)},
    }


class _Names:
    """Stored weights by the names of a complete model.

    A folder may hold the encoder alone, without the prefix `bert.`, and old ones call the parts of norms gamma and
    beta.
    """

    def __init__(self, stored: StoredWeights) -> None:
        self.stored = stored
        is_whole = any(name.startswith(f"{THEIRS}.") for name in stored.shapes)
        self._before = "" if is_whole else f"{THEIRS}."
        self.names = {self._whole_name(name): name for name in stored.shapes}

    def _whole_name(self, name: str) -> str:
        for new, old in _OLD.items():
            name = name.removesuffix(old) + new if name.endswith(old) else name
        return name if name.startswith("cls.") else self._before + name

    def expect(self, name: str, shape: Shape) -> None:
        self.stored.expect(self.names.get(name, name), shape)

    def __getitem__(self, name: str) -> Tensor:
        return self.stored[self.names[name]]


@dataclass(frozen=True)
class _Bert:
    """A stored model, and how its tensors become ours."""

    config: BertConfig
    stored: _Names

    @property
    def has_pooler(self) -> bool:
        return f"{THEIR_POOLER}.weight" in self.stored.names

    @property
    def has_head(self) -> bool:
        return any(name.startswith("cls.predictions.") for name in self.stored.names)

    @property
    def parts(self) -> dict[str, WeightPart]:
        parts = weight_parts(self.config.num_hidden_layers, self.has_pooler)
        stored = {part.ours: part for part in parts}
        return stored if self.has_head else {name: part for name, part in stored.items() if not _is_of_head(name)}

    def check(self, shapes: dict[str, Shape]) -> None:
        """Refuse weights that do not belong to such a model, before reading any of them."""
        expected = set(UNUSED)
        for part in self.parts.values():
            rows, *rest = shapes[part.ours]
            for name in part.theirs:
                if name == THEIR_BIAS and name not in self.stored.names:
                    name = "cls.predictions.decoder.bias"  # the same tensor, which may be stored under this name only
                self.stored.expect(name, (rows // len(part.theirs), *rest))
                expected.add(name)
        for name in sorted(self.stored.names.keys() - expected):
            raise Fault(f"{self.stored.stored.path} holds '{name}', which does not fit config.json.")
        tied = "cls.predictions.decoder.weight"
        if tied in self.stored.names:
            self.stored.expect(tied, shapes[TOKENS])
            if not torch.equal(self.stored[tied], self.stored[self.parts[TOKENS].theirs[0]]):
                raise Fault(f"'{tied}' in {self.stored.stored.path} differs from the token embeddings.")

    def converted(self, shapes: dict[str, Shape], progress: Progress) -> bytes:
        """Return our weights as safetensors; besides the current tensor, no second copy of them is in memory."""
        parts, done = self.parts, 0

        def tensor(name: str) -> Tensor:
            nonlocal done
            progress("importing tensors", done := done + 1, len(shapes))
            if name not in parts:
                return _new_head(name, shapes[name])
            theirs = [self._named(their_name) for their_name in parts[name].theirs]
            return torch.cat(theirs) if len(theirs) > 1 else theirs[0]

        buffer = io.BytesIO()
        write_tensors(buffer, shapes, tensor, None)
        return buffer.getvalue()

    def _named(self, name: str) -> Tensor:
        is_there = name in self.stored.names or name != THEIR_BIAS
        return self.stored[name if is_there else "cls.predictions.decoder.bias"]


def _is_of_head(name: str) -> bool:
    return name == BIAS or name.rpartition(".")[0] in HEAD


def _new_head(name: str, shape: Shape) -> Tensor:
    """Return the untrained layer that fills masks: it passes a state unchanged."""
    if len(shape) > 1:
        return torch.eye(*shape)
    return torch.ones(shape) if name == "model.norm.weight" else torch.zeros(shape)

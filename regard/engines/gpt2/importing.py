"""Import a GPT-2 from a Hugging Face folder into a model folder that gives the same logits."""

import io
from functools import lru_cache
from pathlib import Path

from torch import Tensor

from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.base.recipe import write
from regard.base.version import __version__
from regard.engines.folders import MODEL_FOLDER, whole_folder
from regard.engines.gpt2.config import model_table, read_config
from regard.engines.gpt2.tokenisers import read_tokeniser
from regard.engines.gpt2.weights import PREFIX, THEIR_OUT, Part, parts_of
from regard.engines.hugging_face.files import Shape, write_tensors
from regard.engines.hugging_face.stored import StoredWeights, open_weights
from regard.families import check_recipe, task_class
from regard.models.shapes import ShapesOnly
from regard.training import checkpoint
from regard.training.snapshot import named_weights

_MASKS = (".attn.bias", ".attn.masked_bias")  # stored among the weights in older files


def import_gpt2(folder: Path, out: Path, progress: Progress = silent) -> None:
    """Make a model folder `out` from the GPT-2 in `folder`."""
    if folder.resolve().is_relative_to(out.resolve()):
        raise Fault(f"{out} is or contains the GPT-2 itself; write the imported model elsewhere.")
    config = read_config(folder)
    tokeniser, name = read_tokeniser(folder, config), folder.resolve().name
    recipe = check_recipe(
        {
            "family": "gpt",
            "task": "language",
            "data": {
                "train": f"imported from {name}; its training text is not here",
                "tokeniser": {"kind": "gpt2"},
                "blank_lines": True,
            },
            "model": {key: value for key, value in model_table(config).items() if value is not None},
        }
    )
    files = tokeniser.files("tokeniser")
    with ShapesOnly():
        ours = named_weights(task_class(recipe).build(recipe, files))
    shapes = {name_of_ours: tuple(tensor.shape) for name_of_ours, tensor in ours.items()}
    with open_weights(folder) as stored, whole_folder(out, MODEL_FOLDER) as partial:
        weights = _GPT2Weights(stored, list(parts_of(config.n_layer, config.tie_word_embeddings)))
        weights.check(shapes)
        header = f"Written by regard {__version__}: the recipe of {name}, a GPT-2 that was imported."
        files |= {checkpoint.RECIPE: write(recipe, header).encode()}
        checkpoint.update_folder(partial, files | {checkpoint.WEIGHTS: weights.converted(shapes, progress)})


class _GPT2Weights:
    """Stored weights, and how they become ours."""

    def __init__(self, stored: StoredWeights, parts: list[Part]) -> None:
        self.stored, self.parts = stored, parts
        self.prefix = PREFIX if f"{PREFIX}wte.weight" in stored.shapes else ""

    def _name(self, part: Part) -> str:
        return part.theirs if part.theirs == THEIR_OUT else self.prefix + part.theirs

    def check(self, shapes: dict[str, Shape]) -> None:
        """Refuse weights that do not belong to such a model, before reading any of them."""
        expected = {THEIR_OUT}  # if it is tied, some files have it twice
        for part in self.parts:
            whole = (sum(shapes[name][0] for name in part.ours), *shapes[part.ours[0]][1:])
            self.stored.expect(self._name(part), whole[::-1] if part.turned else whole)
            expected.add(self._name(part))
        for name in sorted(self.stored.shapes.keys() - expected):
            if not name.endswith(_MASKS):
                raise Fault(f"{self.stored.path} holds '{name}', which does not fit config.json.")

    def converted(self, shapes: dict[str, Shape], progress: Progress) -> bytes:
        """Return our weights as safetensors."""
        places: dict[str, tuple[Part, int]] = {
            name: (part, place) for part in self.parts for place, name in enumerate(part.ours)
        }
        done = 0

        @lru_cache(maxsize=2)  # for a tensor that holds several of ours
        def split(part: Part) -> tuple[Tensor, ...]:
            return part.own(self.stored[self._name(part)], [shapes[name][0] for name in part.ours])

        def tensor(name: str) -> Tensor:
            nonlocal done
            progress("importing tensors", done := done + 1, len(shapes))
            part, place = places[name]
            return split(part)[place]

        buffer = io.BytesIO()
        write_tensors(buffer, shapes, tensor, None)
        return buffer.getvalue()

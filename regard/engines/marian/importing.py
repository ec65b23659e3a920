"""Import a Marian model from a Hugging Face folder into a model folder.

It gives the same logits as transformers' MarianMTModel except for the tokens that its search forbids, always including
padding: here they get no probability. (Marian itself has no padding. The row that transformers adds for it is
untrained; its search forbids it and, in the public models, redistributes its probability.)
"""

import io
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, cast

import torch
from torch import Tensor

from regard.attention.positions import sinusoids
from regard.base.faults import Fault
from regard.base.progress import Progress, silent
from regard.base.recipe import write
from regard.base.version import __version__
from regard.engines.folders import MODEL_FOLDER, whole_folder
from regard.engines.hugging_face.files import Shape, write_tensors
from regard.engines.hugging_face.stored import StoredWeights, open_weights
from regard.engines.marian.config import (
    Generation,
    MarianConfig,
    decoding_table,
    model_table,
    read_config,
    read_generation,
)
from regard.engines.marian.tokenisers import languages, read_tokenisers
from regard.engines.marian.weights import (
    BIAS,
    OUT,
    SOURCE,
    TARGET,
    THEIR_BIAS,
    WeightPart,
    arrange,
    block_parts,
    order,
)
from regard.families import check_recipe
from regard.models.shapes import ShapesOnly
from regard.tasks.translation.building import build_translation
from regard.tasks.translation.options import TranslationRecipe
from regard.training import checkpoint
from regard.training.snapshot import named_weights

NEVER = -1e9  # the bias of a forbidden token: finite, so that all weights are numbers
CLEANED = 256  # longest pair to learn from, if the model takes as many tokens

_SHARED, _OUT = "model.shared.weight", "lm_head.weight"
_ENCODER, _DECODER = "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"
_PLACES = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")
_NEAR = 1e-2  # tolerance for stored sinusoids, which half precision rounds


def import_marian(
    folder: Path,
    out: Path,
    code: str | None = None,
    remark: Callable[[str], None] = lambda text: None,
    progress: Progress = silent,
) -> None:
    """Make a model folder `out` from the Marian model in `folder`.

    With a `code`, such as por, a model for several languages always writes that one.
    """
    if folder.resolve().is_relative_to(out.resolve()):
        raise Fault(f"{out} is or contains the Marian model itself; write the imported model elsewhere.")
    config, generation = read_config(folder), read_generation(folder)
    source, target = read_tokenisers(folder, config, code, remark)
    with open_weights(folder) as stored, whole_folder(out, MODEL_FOLDER) as partial:
        marian = _Marian(config, stored, _forbidden(config, generation, remark))
        table = _recipe_table(folder, marian, code)
        table["decoding"] = decoding_table(generation, config.max_position_embeddings, remark)
        recipe = cast(TranslationRecipe, check_recipe(table))
        with ShapesOnly():
            ours = named_weights(build_translation(recipe, source, target))
        shapes = {name: tuple(tensor.shape) for name, tensor in ours.items()}
        marian.check(shapes)
        name = folder.resolve().name
        header = f"Written by regard {__version__}: the recipe of {name}, a Marian model that was imported."
        files = {checkpoint.RECIPE: write(recipe, header).encode(), **source.files("source"), **target.files("target")}
        checkpoint.update_folder(partial, files | {checkpoint.WEIGHTS: marian.converted(shapes, progress)})


def _recipe_table(folder: Path, marian: "_Marian", code: str | None) -> dict[str, Any]:
    """Return the recipe of an imported model; its training data can only be named."""
    config, longest = marian.config, marian.config.max_position_embeddings
    return {
        "data": {
            "train": [{"pairs": f"imported from {folder.resolve().name}; its training text is not here"}],
            "cleaning": {"longest": min(CLEANED, longest - 1)},
            "tokeniser": {
                "kind": "marian",
                "vocabulary": max(16, config.vocab_size, config.target_tokens),
                "shared": False,
                "byte_fallback": False,
            },
            **languages(folder, code),
        },
        "model": model_table(config) | {"shared_embeddings": marian.embeddings.shared},
    }


def _forbidden(config: MarianConfig, generation: Generation, remark: Callable[[str], None]) -> list[int]:
    """Return the tokens that are never written."""
    if any(len(phrase) > 1 for phrase in generation.bad_words_ids):
        remark("Forbidden phrases of several tokens are dropped from its search.")
    alone = [phrase[0] for phrase in generation.bad_words_ids if len(phrase) == 1]
    possible = set(range(config.target_tokens)) - {config.end}
    return sorted(possible & {config.pad_token_id, *alone})


class _Embeddings(NamedTuple):
    """The names of the stored matrices that embed source and target, and whether they are shared."""

    source: str
    target: str
    shared: bool


@dataclass(frozen=True)
class _Marian:
    """A stored model, and how its tensors become ours."""

    config: MarianConfig
    stored: StoredWeights
    forbidden: list[int]

    @cached_property
    def embeddings(self) -> _Embeddings:
        config, stored = self.config, self.stored.shapes
        share = config.share_encoder_decoder_embeddings
        if share and config.tie_word_embeddings:
            name = next((name for name in (_SHARED, _ENCODER, _DECODER, _OUT) if name in stored), _SHARED)
            return _Embeddings(name, name, True)
        # With a separate output layer, older versions of transformers share the embeddings and newer ones do not.
        source, target = (own_name if own_name in stored or not share else _SHARED for own_name in (_ENCODER, _DECODER))
        if config.tie_word_embeddings and target not in stored and _OUT in stored:
            target = _OUT
        return _Embeddings(source, target, share and self._same(source, target))

    def _same(self, source: str, target: str) -> bool:
        for name in (source, target):
            self.stored.expect(name, (self.config.vocab_size, self.config.d_model))
        return source == target or torch.equal(self.stored[source], self.stored[target])

    @cached_property
    def parts(self) -> dict[str, WeightPart]:
        """All of our tensors except the bias."""
        config, embeddings = self.config, self.embeddings
        parts = [WeightPart(SOURCE, (embeddings.source,), reads=True)]
        parts += [] if embeddings.shared else [WeightPart(TARGET, (embeddings.target,), reads=True)]
        parts += [] if config.tie_word_embeddings else [WeightPart(OUT, (_OUT,), reads=True)]
        for side, layers in (("encoder", config.encoder_layers), ("decoder", config.decoder_layers)):
            parts += [part for number in range(layers) for part in block_parts(side, number)]
        return {part.ours: part for part in parts}

    def check(self, shapes: dict[str, Shape]) -> None:
        """Refuse weights that do not belong to such a model, before reading any of them."""
        expected = {_SHARED, _ENCODER, _DECODER, _OUT, THEIR_BIAS, *_PLACES}
        for part in self.parts.values():
            rows, *rest = shapes[part.ours]
            for name in part.theirs:
                self.stored.expect(name, (rows // len(part.theirs), *rest))
                expected.add(name)
        if THEIR_BIAS in self.stored.shapes:
            self.stored.expect(THEIR_BIAS, (1, self.config.target_tokens))
        for name in sorted(self.stored.shapes.keys() - expected):
            raise Fault(f"{self.stored.path} holds '{name}', which does not fit config.json.")
        for name in set(_PLACES) & self.stored.shapes.keys():
            self._check_places(name)

    def _check_places(self, name: str) -> None:
        longest, width = self.config.max_position_embeddings, self.config.d_model
        self.stored.expect(name, (longest, width))
        usual = sinusoids(torch.arange(longest), width)[:, order(width).argsort()]
        if not torch.allclose(self.stored[name], usual, atol=_NEAR):
            raise Fault(f"'{name}' in {self.stored.path} does not hold sinusoids, which Marian uses as positions.")

    def converted(self, shapes: dict[str, Shape], progress: Progress) -> bytes:
        """Return our weights as safetensors; besides the current tensor, no second copy of them is in memory."""
        places, factors, done = order(self.config.d_model), self._factors(), 0

        def tensor(name: str) -> Tensor:
            nonlocal done
            progress("importing tensors", done := done + 1, len(shapes))
            if name == BIAS:
                return self._bias()
            part = self.parts[name]
            stacked = [self.stored[their_name] for their_name in part.theirs]
            weight = arrange(torch.cat(stacked) if len(stacked) > 1 else stacked[0], part, places)
            return weight * factors[name] if name in factors else weight

        buffer = io.BytesIO()
        write_tensors(buffer, shapes, tensor, None)
        return buffer.getvalue()

    def _factors(self) -> dict[str, float]:
        """Return factors that compensate for embeddings that ours scales and theirs does not."""
        if self.config.scale_embedding:
            return {}
        root = self.config.d_model**0.5
        last = f"model.decoder.{self.config.decoder_layers - 1}.around_feed_forward.norm"
        tied = {f"{last}.weight": root, f"{last}.bias": root} if self.config.tie_word_embeddings else {}
        return {SOURCE: 1 / root, TARGET: 1 / root, **tied}

    def _bias(self) -> Tensor:
        stored_bias = (
            self.stored[THEIR_BIAS] if THEIR_BIAS in self.stored.shapes else torch.zeros(self.config.target_tokens)
        )
        bias = stored_bias.flatten().clone()
        bias[self.forbidden] = NEVER
        return bias

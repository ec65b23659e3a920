"""The task of captioning: batches of features and captions, written word by word with attention to places."""

import math
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from regard.base.faults import Fault
from regard.base.progress import Progress, Remark, ignore_remark
from regard.data.captions.features import FORMAT_FILE, PIXELS, open_format
from regard.data.captions.prepare import PreparedCaptions, check_captions_there, open_words, prepare_captions
from regard.data.tokenisers.spaces import SpaceTokeniser
from regard.data.tokenisers.symbols import NAMES
from regard.decoding.options import DecodingOptions
from regard.metrics.cider import CiderAgreement
from regard.models.captions.encoder import AnyEncoder, encoder_of
from regard.models.captions.written import Annotations
from regard.models.shapes import ShapesOnly, refuse_too_large
from regard.protocols import Loss, Measure, State, Tally, mean, perplexity
from regard.tasks.base import Files, NetworkTask, build_network, check_size
from regard.tasks.captioning.batches import MEASURED_ROWS, CaptionBatch, CaptionSource, PictureReferences, picture_batch
from regard.tasks.captioning.features import FeatureReader, Given
from regard.tasks.captioning.objectives import DrawnLooks, cross_entropy
from regard.tasks.captioning.options import CaptioningRecipe
from regard.tasks.captioning.self_critical import critic_of, self_critical_loss
from regard.tasks.text import words_of
from regard.viewing.sides import Cells, Side, Video

FEWEST_WORDS = 16  # of a vocabulary whose size is not known yet


class Captioning(NetworkTask[dict[str, CaptionSource]]):
    """A network that attends to features of pictures, the words it writes, and how it learns them."""

    MEASURES: ClassVar[tuple[str, ...]] = ("loss", "perplexity")
    unit = "tokens"
    measured_rows = MEASURED_ROWS

    def __init__(
        self,
        model: Any,
        encoder: AnyEncoder | None,
        tokeniser: SpaceTokeniser,
        reader: FeatureReader,
        recipe: CaptioningRecipe,
    ) -> None:
        super().__init__(model)
        self.encoder, self.tokeniser, self.reader = encoder, tokeniser, reader
        self.begin, self.end = tokeniser.begin, tokeniser.end
        self.longest, self.decoding, self.training_options = recipe.data.longest, recipe.decoding, recipe.training

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the places that the network looks at."""
        features = self.reader.format
        return (features.rows, features.columns) if self.encoder is None else self.encoder.grid

    # Construction

    @classmethod
    def check(cls, recipe: CaptioningRecipe, device: torch.device, folder: Path | None) -> None:
        check_captions_there(recipe.data, folder)
        check_size(recipe, 1, 1, FEWEST_WORDS, 0)
        if recipe.data.features == "own":
            with ShapesOnly():
                refuse_too_large(encoder_of(recipe.model.encoder, recipe.data.side, recipe.data.frames))

    @classmethod
    def prepare(
        cls, recipe: CaptioningRecipe, folder: Path, progress: Progress, remark: Remark, start: Files | None
    ) -> PreparedCaptions:
        prepared = prepare_captions(recipe.data, folder, progress, open_words(start) if start else None)
        if start is not None:
            open_format(start).refuse_others(prepared.format)
        return prepared

    @classmethod
    def build(cls, recipe: CaptioningRecipe, files: Files) -> "Captioning":
        features, words = open_format(files), open_words(files)
        has_own = recipe.data.features == "own"
        expected = (recipe.data.side, recipe.data.frames)
        if has_own != (features.extractor == PIXELS) or (has_own and (features.rows, features.frames) != expected):
            raise Fault(f"The recipe in the model folder needs other features than {FORMAT_FILE} describes.")
        encoder = encoder_of(recipe.model.encoder, features.rows, features.frames) if has_own else None
        depth, places = (features.width, features.places) if encoder is None else (encoder.depth, len(encoder.places))
        network = build_network(recipe, depth, places, words.size, words.pad)
        return cls(network, encoder, words, FeatureReader.of(features, files, recipe.data), recipe)

    # Training and evaluation

    def learn_from(self, prepared: PreparedCaptions, recipe: CaptioningRecipe) -> None:
        self._material = {split: CaptionSource(prepared, split) for split in prepared.splits}

    def source(self, split: str) -> CaptionSource:
        """Return the captions of a split, once there is data to learn from."""
        return self.material[split]

    def host_batches(
        self, split: str, rows: int, seed: int, epoch: int, start: int
    ) -> Iterator[CaptionBatch | PictureReferences]:
        source, is_critical = self.source(split), split == "train" and self.training_options.self_critical
        return (source.shuffled_pictures if is_critical else source.batches)(rows, seed, epoch, start)

    @cached_property
    def _critic(self) -> CiderAgreement:
        """The reward function for captions that are sampled in training."""
        return critic_of(self.source("train").references())

    def loss(self, batch: CaptionBatch | PictureReferences, carry: dict[str, Tensor] | None = None) -> Loss:
        if isinstance(batch, PictureReferences):
            return self_critical_loss(self, batch, self._critic)
        annotations, smoothing = self.annotations(batch), self.training_options.label_smoothing
        if self.model.chooses:
            return DrawnLooks(self.model.options, smoothing)(self.model, annotations, batch, carry)
        return cross_entropy(self.model, annotations, batch, smoothing)

    def annotations(self, batch: CaptionBatch, kept: Sequence[int] | None = None) -> Annotations:
        """Return what the network attends to: the features, or its own encoding of the pixels.

        Whole numbers are multiplied by their step here, on the network's device. `kept` are the places that are read,
        for features, patches and frames.
        """
        step = 1.0 if batch.features.is_floating_point() else self.reader.format.step
        features = batch.features.to(self.model.dtype) * step
        if self.encoder is None:
            return features if kept is None else features[:, list(kept)]
        return self.encoder(features) if kept is None else self.encoder(features, kept)

    def measure(self, batch: CaptionBatch) -> dict[str, Measure]:
        sums = {name: tuple(rows.sum(dim=0).tolist()) for name, rows in self.sums_of_rows(batch).items()}
        return {
            "loss": Measure(Tally(sums["loss"], mean), "lower", "nats for each word, end counted"),
            "perplexity": Measure(Tally(sums["perplexity"], perplexity), "lower", "per word, end counted"),
        }

    @torch.no_grad()
    def sums_of_rows(self, batch: CaptionBatch) -> dict[str, Tensor]:
        nats = -(self.token_scores(batch).double() * batch.real).sum(dim=1)
        sums = torch.stack([nats, batch.real.sum(dim=1).double()], dim=1)
        return {"loss": sums, "perplexity": sums}

    def token_scores(self, batch: CaptionBatch, kept: Sequence[int] | None = None) -> Float[Tensor, "row time"]:
        """Return the log-probability of each caption token, given those before it; `kept` as for `annotations`.

        A watcher sees where the network attended before it wrote each token.
        """
        memory = self.model.read(self.annotations(batch, kept), kept)
        written = self.model.write(batch.inputs, memory, self.model.begin(memory))
        logs = self.model.logits(written.states).log_softmax(dim=-1)
        return logs.gather(-1, batch.tokens[..., None]).squeeze(-1)

    # Search

    def start(self, batch: CaptionBatch) -> State:
        memory = self.model.read(self.annotations(batch))
        return State(sentence=memory, row=self.model.begin(memory))

    def step(self, tokens: Int[Tensor, " row"], state: State) -> tuple[Tensor, State]:
        written = self.model.write(tokens[:, None], state.sentence, state.row)
        return self.model.logits(written.states[:, 0]).float().log_softmax(-1), State(state.sentence, written.past)

    @property
    def unwritten(self) -> tuple[int, ...]:
        """Tokens that no caption has: the unknown word, padding and the begin token."""
        return self.tokeniser.unknown, self.tokeniser.pad, self.begin

    def limits(self, batch: CaptionBatch, options: DecodingOptions) -> Tensor:
        return torch.full((batch.rows,), options.limit(0, self.longest + 1), device=self.device)

    @property
    def longest_written(self) -> int:
        """Most tokens of a caption, including its end."""
        return self.decoding.limit(0, self.longest + 1)

    # For people

    def read(self, inputs: Sequence[Given], remark: Remark = ignore_remark) -> CaptionBatch:
        """Read pictures: their files, .npy files with their features, or names of pictures in the recipe's data."""
        read_pictures = [self.reader.read(picture, remark) for picture in inputs]
        features = torch.from_numpy(np.stack([item.features for item in read_pictures]))
        names = [str(picture) if isinstance(picture, str | Path) else "The picture" for picture in inputs]
        return picture_batch(features, names, [item.picture for item in read_pictures]).to(self.device)

    def own_picture(self, split: str, name: str) -> np.ndarray | None:
        """Return a training picture of a split, (height, width, 3) from 0 to 1, if it is on this machine.

        For a video, return the middle frame.
        """
        picture = self.reader.picture_of(name)
        if picture is not None or self.encoder is None:
            return picture
        features = self.reader.format
        pixels = self.source(split).features_of(name).reshape(*features.shape, -1) * features.step
        return pixels if features.frames is None else pixels[features.frames // 2]

    def write(self, tokens: Sequence[int]) -> str:
        return self.tokeniser.decode(tokens)

    def sides(self, batch: CaptionBatch, outputs: Sequence[Sequence[int]]) -> dict[str, Side]:
        """Return the places of the picture, or the frames of the video, and the words written for it."""
        (written,) = outputs
        words = words_of(self.tokeniser, [*written, self.end])
        picture = batch.pictures[0] if batch.pictures else None
        if self.reader.format.frames is not None:
            assert picture is not None
            return {"source": Video(picture), "target": words}
        if picture is None:  # show the length of each place's vector instead
            lengths = self.annotations(batch)[0].norm(dim=-1).reshape(self.grid)
            picture = (lengths / lengths.amax().clamp_min(1e-9)).float().cpu().numpy()
        return {"source": Cells(picture, self.grid), "target": words}

    def quote(self, batch: CaptionBatch | PictureReferences) -> str:
        if isinstance(batch, PictureReferences):
            return f"{batch.pictures.names[0]}: '{batch.references[0][0]}'"
        return f"{batch.names[0]}: '{self.write(batch.tokens[0].tolist())}'"

    def facts(self) -> dict[str, Any]:
        return {"words": self.tokeniser.size - len(NAMES), "features": self.reader.format.as_fact}

    def cost(self, size: int) -> dict[str, int | float]:
        """Return the cost of a caption of `size` words, without the picture's features."""
        return {"multiplications": self.model.multiplications(math.prod(self.grid), size)}

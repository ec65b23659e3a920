"""DRAW, a deep recurrent attentive writer (Gregor et al. 2015): a variational autoencoder that draws step by step.

At each of T steps the encoder sees the remaining error of the canvas, latents z_t pass it to the decoder, and the
decoder adds to the canvas (equations 3 to 8):

    x̂_t = x − σ(c_{t−1})
    r_t = read(x, x̂_t, h^dec_{t−1})
    h^enc_t = LSTM(h^enc_{t−1}, [r_t, h^dec_{t−1}])
    z_t ~ Q(Z_t | h^enc_t) = N(μ_t, σ_t²),   μ_t and log σ_t linear in h^enc_t
    h^dec_t = LSTM(h^dec_{t−1}, z_t)
    c_t = c_{t−1} + write(h^dec_t)

The likelihood of a picture is that of its pixels under Bernoulli(σ(c_T)). To draw new pictures, z_t comes from N(0, I).
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from pydantic import Field
from torch import Tensor, nn

from regard.attention.editing import is_edited
from regard.attention.watch import is_watched, note_window
from regard.base.recipe import Options
from regard.kernels import available
from regard.models.bounds import WIDEST
from regard.models.draw.edited import EditedLstm, EditedWindow
from regard.models.draw.filters import LOG_DISTANCE, LOG_VARIANCE, NUMBERS, Picture
from regard.models.draw.loops import Rounds, begin_rounds
from regard.models.draw.pointwise import (
    PLAIN,
    Grids,
    Hidden,
    Said,
    add_patch,
    compiled_parts,
    read_error,
    remember,
    see,
)

Noise = Float[Tensor, "batch step latent"]


class DrawOptions(Options):
    """Sizes of DRAW; the defaults are those published for MNIST with attention."""

    steps: int = Field(64, ge=1, le=256, description="Number of drawing steps (T).")
    width: int = Field(256, ge=1, le=WIDEST, description="Hidden size of the encoder's LSTM and of the decoder's.")
    latent: int = Field(100, ge=1, le=WIDEST, description="Number of latents per step.")
    attention: bool = Field(True, description="Read and write through windows; if false, the whole picture each time.")
    read: int = Field(2, ge=2, le=64, description="Filters per side of the reading window, with attention.")
    write: int = Field(5, ge=2, le=64, description="Filters per side of the writing window, with attention.")


class Redrawn(NamedTuple):
    """Result of redrawing a picture: the canvas before σ, and Q(Z_t | h^enc_t) of every step."""

    canvas: Picture
    means: Noise  # μ_t
    log_deviations: Noise  # log σ_t


class Drawings(NamedTuple):
    """Newly drawn pictures: the canvas after each step, as the probability of ink, and where each step wrote."""

    canvases: Float[Tensor, "batch step height width"]
    windows: Float[Tensor, "batch step 4"] | None  # across, down, side and σ, in pixels from the corner


class LstmState(NamedTuple):
    """State of an LSTM: output and cell."""

    shown: Hidden
    cell: Hidden


class Layers(NamedTuple):
    """The linear layers of a network in the rounds of one loop."""

    encode: Rounds
    infer: Rounds
    decode: Rounds
    say: Rounds


class Begun(NamedTuple):
    """Initial values of a loop."""

    layers: Layers
    canvas: Picture
    encoder: LstmState
    decoder: LstmState
    said: Said


class Draw(nn.Module):
    """Encoder, decoder and the canvas between them, for pictures of height × width pixels.

    The decoder's state determines what to write, through which window, and where to read next, by one linear layer.
    """

    looks_from, looks_at = "steps", "picture"
    not_edited = "DRAW has a window to read and one to write; edit the window of 'reading' or of 'writing'."

    def __init__(self, options: DrawOptions, height: int, width: int) -> None:
        super().__init__()
        self.options, self.height, self.width = options, height, width
        # On a GPU: compute products in TF32, and compile the pointwise parts between them.
        self.in_tf32 = self.compiles_step = False
        input_size = 2 * (options.read**2 if options.attention else height * width)
        self.written = (options.write, options.write) if options.attention else (height, width)
        windows = 2 * NUMBERS if options.attention else 0
        self.encode = EditedLstm(input_size + 2 * options.width, 4 * options.width)
        self.infer = nn.Linear(options.width, 2 * options.latent)
        self.decode = EditedLstm(options.latent + options.width, 4 * options.width)
        self.say = nn.Linear(options.width, windows + self.written[0] * self.written[1])
        self.reading, self.writing = (EditedWindow(grid, height, width) for grid in (options.read, options.write))
        if options.attention:
            self._place_windows()
        # The initial canvas and the initial outputs of the two LSTMs are learnt.
        self.first_canvas = nn.Parameter(torch.zeros(height, width))
        self.first_shown = nn.Parameter(torch.zeros(2, options.width))

    @torch.no_grad()
    def _place_windows(self) -> None:
        """Start with a writing window over the whole picture and a reading window over its middle third.

        σ starts as a 14th of the longer side. The paper does not say how windows start. With all numbers at zero, a
        reading window of 2 × 2 filters sees the corners of a picture, where there is nothing to read, and a writing
        window leaves spots.
        """
        nn.init.zeros_(self.say.bias[: 2 * NUMBERS])
        self.say.bias[LOG_VARIANCE : 2 * NUMBERS : NUMBERS] = 2 * math.log(max(self.height, self.width) / 14)
        self.say.bias[LOG_DISTANCE] = -math.log(3)

    @property
    def dtype(self) -> torch.dtype:
        return self.first_canvas.dtype

    def forward(self, pictures: Picture, noise: Noise) -> Redrawn:
        """Redraw pictures with latents that deviate from the means of Q by `noise` times their deviations."""
        compiles = self.compiles_step and pictures.is_cuda and torch.is_grad_enabled() and not is_edited()
        if compiles and self._has_kernels() and not is_watched(self):
            return self._redraw_by_kernels(pictures, noise)
        layers, canvas, encoder, decoder, said = self._begin(len(pictures))
        said = self._edit_reading(said, 0)
        grids = self._grids
        seen = see(pictures, canvas, said, decoder.shown, encoder.shown, grids and grids.read)
        posteriors, windows = [], []
        for number, chance in enumerate(noise.unbind(dim=1), 1):
            # The first step's inputs have different strides and no gradient: they would need another compilation.
            parts = compiled_parts() if compiles and number > 1 else PLAIN
            encoder = LstmState(*parts.remember(layers.encode(seen), encoder.cell))
            encoder = LstmState(*self.encode.edited(encoder.shown, encoder.cell, number - 1))
            posteriors.append(layers.infer(encoder.shown))
            sums = layers.decode(parts.draw_latents(posteriors[-1], chance, decoder.shown))
            decoder = LstmState(*parts.remember(sums, decoder.cell))
            decoder = LstmState(*self.decode.edited(decoder.shown, decoder.cell, number - 1))
            windows.append(said)
            said = self._edit_writing(layers.say(decoder.shown), number - 1)
            if number < noise.shape[1]:
                said = self._edit_reading(said, number)
                canvas, seen = parts.turn(pictures, canvas, said, decoder.shown, encoder.shown, grids)
        canvas = add_patch(canvas, said, grids and grids.write)
        if self.options.attention and is_watched(self):
            self._note(torch.stack(windows, dim=1)[..., :NUMBERS])
        return Redrawn(canvas, *torch.stack(posteriors, dim=1).chunk(2, dim=-1))

    def draw(self, latents: Noise) -> Drawings:
        """Draw new pictures from latents alone, which are sampled from N(0, I)."""
        layers, canvas, _, decoder, _ = self._begin(len(latents))
        grid = self.options.write if self.options.attention else None
        canvases, windows = [], []
        for step, latent in enumerate(latents.unbind(dim=1)):
            sums = layers.decode(torch.cat([latent, decoder.shown], dim=1))
            decoder = LstmState(*self.decode.edited(*remember(sums, decoder.cell), step))
            said = self._edit_writing(layers.say(decoder.shown), step)
            canvas = add_patch(canvas, said, grid)
            canvases.append(canvas.sigmoid())
            windows.append(said[:, NUMBERS : 2 * NUMBERS])
        where = self._in_pixels(torch.stack(windows, dim=1), self.writing) if self.options.attention else None
        return Drawings(torch.stack(canvases, dim=1), where)

    @property
    def _grids(self) -> Grids | None:
        return Grids(self.options.read, self.options.write) if self.options.attention else None

    def _has_kernels(self) -> bool:
        """Return True if the whole loop can run in kernels of its own."""
        if not available():
            return False
        from regard.kernels import windows  # needs Triton

        return windows.fits(self._grids, self.height, self.width)

    def _redraw_by_kernels(self, pictures: Picture, noise: Noise) -> Redrawn:
        from regard.kernels import drawing  # needs Triton

        canvas = self.first_canvas.expand(len(pictures), -1, -1)
        encoder, decoder = (shown.expand(len(pictures), -1) for shown in self.first_shown.unbind())
        seen = read_error(pictures, canvas, self.say(decoder), self._grids and self._grids.read)
        weights = [
            tensor
            for layer in (self.encode, self.infer, self.decode, self.say)
            for tensor in (layer.weight, layer.bias)
        ]
        layers = drawing.Layers(*weights)
        canvas, posteriors = drawing.redraw(
            pictures, noise, canvas, seen, decoder, encoder, layers, self._grids, self.in_tf32
        )
        return Redrawn(canvas, *posteriors.transpose(0, 1).chunk(2, dim=-1))

    def multiplications(self) -> int:
        """Return the multiplications of drawing one new picture, filters included."""
        rows, columns = self.written
        spread = rows * columns * self.width + rows * self.height * self.width if self.options.attention else 0
        return self.options.steps * (self.decode.weight.numel() + self.say.weight.numel() + spread)

    def _begin(self, rows: int) -> Begun:
        rounds, shown = begin_rounds([self.encode, self.infer, self.decode, self.say], self.first_shown, self.in_tf32)
        nothing = shown.new_zeros(rows, self.options.width)
        encoder, decoder = (LstmState(output.expand(rows, -1), nothing) for output in shown.unbind())
        layers = Layers(*rounds)
        return Begun(layers, self.first_canvas.expand(rows, -1, -1), encoder, decoder, layers.say(decoder.shown))

    def _edit_reading(self, said: Said, step: int) -> Said:
        """Return what the decoder says with the reading window of a step as edited."""
        if not self.options.attention or not is_edited(self.reading):
            return said
        return torch.cat([self.reading(said[:, :NUMBERS], step), said[:, NUMBERS:]], dim=1)

    def _edit_writing(self, said: Said, step: int) -> Said:
        """Return what the decoder says with the writing window of a step as edited."""
        if not self.options.attention or not is_edited(self.writing):
            return said
        read, written, patch = said.tensor_split([NUMBERS, 2 * NUMBERS], dim=1)
        return torch.cat([read, self.writing(written, step), patch], dim=1)

    def _in_pixels(self, windows: Float[Tensor, "batch step 5"], window: EditedWindow) -> Float[Tensor, "batch step 4"]:
        """Return where windows lie: across, down, side and σ in pixels from the upper left corner of the picture."""
        return window.numbers(windows.flatten(0, 1))[:, :4].unflatten(0, windows.shape[:2])

    def _note(self, windows: Float[Tensor, "batch step 5"]) -> None:
        """Note the reading windows for watchers."""
        where = self._in_pixels(windows, self.reading)
        note_window(self, self.looks_from, self.looks_at, where[..., :2], where[..., 2:3])

"""Small encoders of pictures and videos, trained with the decoder that writes their captions: convolutions, or a
Transformer over patches.

Xu et al. 2015, section 3.1.1, take the annotations of a picture from a convolutional net that others trained, and so do
Yao et al. 2015 with the frames of a video and what moves in them; these begin with nothing, and suit pictures that are
simple or many.
"""

from itertools import pairwise

import torch
from jaxtyping import Float
from pydantic import Field, model_validator
from torch import Tensor, nn

from regard.base.recipe import Options
from regard.models.bounds import WIDEST
from regard.models.patches import PatchEncoder, PatchOptions, cut_into_patches

COLOURS = 3


class MotionOptions(Options):
    """Convolutions over space and time, each of stride 2 in space, with a norm and a rectifier."""

    channels: list[int] = Field([16, 32, 64], min_length=1, max_length=8, description="Filters of each convolution.")
    span: int = Field(3, ge=1, le=15, description="Frames that a filter spans; odd.")
    kernel: int = Field(3, ge=1, le=31, description="Pixels a side of a filter; odd.")

    @model_validator(mode="after")
    def _check(self) -> "MotionOptions":
        check_filters(self.channels, span=self.span, kernel=self.kernel)
        return self


def check_filters(channels: list[int], **sizes: int) -> None:
    """Refuse filters that have no middle, or too many of them."""
    for name, size in sizes.items():
        if size % 2 == 0:
            raise ValueError(f"{name} is {size}, expected an odd number, which has a middle")
    if any(not 1 <= count <= WIDEST for count in channels):
        raise ValueError(f"channels are {channels}, expected numbers from 1 to {WIDEST}")


class EncoderOptions(Options):
    """Convolutions of stride 2, each with a norm and a rectifier; what the last gives is what a place holds.

    Or the states of a Transformer over patches, one for each. A frame of a video becomes one vector as a whole.
    """

    channels: list[int] = Field(
        [32, 64, 128], min_length=1, max_length=8, description="Filters of each convolution, which halves the sides."
    )
    kernel: int = Field(5, ge=1, le=31, description="Pixels a side of a filter; odd.")
    patches: PatchOptions | None = Field(None, description="A Transformer over patches in place of the convolutions.")
    width: int = Field(
        128, ge=1, le=WIDEST, description="Width of what is seen of a frame, and of its motion (videos)."
    )
    motion: MotionOptions | None = Field(
        None, description="Convolutions over space and time beside those over each frame (videos)."
    )

    @property
    def idle(self) -> tuple[str, ...]:
        return () if self.patches is None else ("channels", "kernel")

    @model_validator(mode="after")
    def _check(self) -> "EncoderOptions":
        check_filters(self.channels, kernel=self.kernel)
        usual = [type(self).model_fields[name].default for name in ("channels", "kernel")]
        if self.patches is not None and [self.channels, self.kernel] != usual:
            raise ValueError("channels and kernel are those of convolutions; omit them with patches")
        return self


class EncodedOptions(Options):
    """Options that every captioner has besides its own."""

    encoder: EncoderOptions = Field(
        EncoderOptions(), description="What reads pictures where data.features is 'own', trained with the decoder."
    )


class PictureEncoder(nn.Module):
    """a_i = v_i + Rect(Norm(Conv(…(x)…)))_i, with a vector v_i learnt for each place: convolutions see what is there
    and not where, and captions say where.

    The norm is over all channels and places of a picture by itself, so that batch-mates change nothing.
    """

    def __init__(self, options: EncoderOptions, side: int) -> None:
        """For square pictures with so many pixels a side."""
        super().__init__()
        self.side, reached = side, _places_a_side(side, options.channels)
        self.convolutions = _convolutions(options)
        self.grid, self.depth = (reached, reached), options.channels[-1]
        self.places = nn.Parameter(torch.empty(reached * reached, self.depth))
        nn.init.normal_(self.places, std=0.5)

    def forward(self, pixels: Float[Tensor, "batch pixel 3"]) -> Float[Tensor, "batch place depth"]:
        """The annotations of pictures whose pixels, from 0 to 1, come row after row."""
        rows = pixels.unflatten(1, (self.side, self.side)).permute(0, 3, 1, 2)
        return self.convolutions(2 * rows - 1).flatten(2).transpose(1, 2) + self.places


class PatchPictureEncoder(nn.Module):
    """The annotations are the states of a Transformer over the patches of a picture; places are learnt there."""

    def __init__(self, options: PatchOptions, side: int) -> None:
        """For square pictures with so many pixels a side."""
        super().__init__()
        across = -(-side // options.patch)
        self.side, self.patch, self.grid, self.depth = side, options.patch, (across, across), options.width
        self.encoder = PatchEncoder(options, COLOURS * options.patch**2, self.grid)

    @property
    def places(self) -> Float[Tensor, "place depth"]:
        """The learnt vector of each place."""
        return self.encoder.places.places.weight

    def forward(self, pixels: Float[Tensor, "batch pixel 3"]) -> Float[Tensor, "batch place depth"]:
        """The annotations of pictures whose pixels, from 0 to 1, come row after row."""
        sides = pixels.unflatten(1, (self.side, self.side)).permute(0, 3, 1, 2)
        patches = cut_into_patches((2 * sides - 1).flatten(0, 1), self.patch)
        return self.encoder(patches.unflatten(0, (-1, COLOURS)).transpose(1, 2).flatten(2))


class VideoEncoder(nn.Module):
    """v_i = p_i + [f(x_i); m(x)_i], one vector for each frame i of a video x (Yao et al. 2015, section 3):

        f(x_i) = Rect(W Rect(Norm(Conv2(…(x_i)…))))       what the frame shows
        m(x)_i = Rect(W' Rect(Norm(Conv3(…(x)…)))_i)      what moves around it: local temporal structure

    p_i is learnt for each frame: nothing else tells when it is shown, and captions say what came first. The paper has
    no such vector; to the mean over all frames it is a constant. Without `motion` there is no m. Norms are over a
    frame, or over a video, by itself.
    """

    def __init__(self, options: EncoderOptions, side: int, frames: int) -> None:
        """For videos of so many frames, square pictures with so many pixels a side."""
        super().__init__()
        self.side, self.frames, self.grid, motion = side, frames, (1, frames), options.motion
        self.convolutions = _convolutions(options)
        self.shown = _frame_vector(options.channels, side, options.width)
        self.motion_convolutions = None if motion is None else _motion_convolutions(motion)
        self.moved = None if motion is None else _frame_vector(motion.channels, side, options.width)
        self.depth = options.width * (1 if motion is None else 2)
        self.places = nn.Parameter(torch.empty(frames, self.depth))
        nn.init.normal_(self.places, std=0.5)

    def forward(self, pixels: Float[Tensor, "batch pixel 3"]) -> Float[Tensor, "batch frame depth"]:
        """The vectors of videos whose pixels, from 0 to 1, come frame after frame, and in each row after row."""
        frames = 2 * pixels.unflatten(1, (self.frames, self.side, self.side)).movedim(-1, 2) - 1
        seen = self.shown(self.convolutions(frames.flatten(0, 1)).unflatten(0, frames.shape[:2]).flatten(2))
        if self.motion_convolutions is not None and self.moved is not None:
            motion = self.motion_convolutions(frames.transpose(1, 2)).transpose(1, 2)
            seen = torch.cat([seen, self.moved(motion.flatten(2))], dim=-1)
        return seen + self.places


AnyEncoder = PictureEncoder | PatchPictureEncoder | VideoEncoder


def encoder_of(options: EncoderOptions, side: int, frames: int | None = None) -> AnyEncoder:
    """The encoder that a recipe asks for, of square pictures with so many pixels a side, or of videos of them."""
    if frames is not None:
        return VideoEncoder(options, side, frames)
    return PictureEncoder(options, side) if options.patches is None else PatchPictureEncoder(options.patches, side)


def _convolutions(options: EncoderOptions) -> nn.Sequential:
    """From pictures (picture, colour, row, column) to channels on a coarser grid."""
    layers: list[nn.Module] = []
    for before, after in pairwise([COLOURS, *options.channels]):
        convolution = nn.Conv2d(before, after, options.kernel, stride=2, padding=options.kernel // 2)
        layers += [convolution, nn.GroupNorm(1, after), nn.ReLU()]
    return nn.Sequential(*layers)


def _motion_convolutions(options: MotionOptions) -> nn.Sequential:
    """From videos (video, colour, frame, row, column) to channels at as many frames, on a coarser grid."""
    layers: list[nn.Module] = []
    kernel = (options.span, options.kernel, options.kernel)
    for before, after in pairwise([COLOURS, *options.channels]):
        padding = (options.span // 2, options.kernel // 2, options.kernel // 2)
        convolution = nn.Conv3d(before, after, kernel, stride=(1, 2, 2), padding=padding)
        layers += [convolution, nn.GroupNorm(1, after), nn.ReLU()]
    return nn.Sequential(*layers)


def _frame_vector(channels: list[int], side: int, width: int) -> nn.Sequential:
    """From the channels at all places of a frame to one vector."""
    return nn.Sequential(nn.Linear(channels[-1] * _places_a_side(side, channels) ** 2, width), nn.ReLU())


def _places_a_side(side: int, channels: list[int]) -> int:
    """Return the places per side that are left of `side` pixels once every convolution has halved them."""
    for _ in channels:
        side = -(-side // 2)
    return side

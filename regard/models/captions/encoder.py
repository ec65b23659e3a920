"""Small encoders of pictures and videos, trained together with the captioner: convolutions, or a Transformer over
patches.

Xu et al. 2015, section 3.1.1, take the annotations of a picture from a pretrained convolutional net; Yao et al. 2015 do
the same for the frames of a video and their motion. These encoders start from random weights, and suit simple pictures
or large data sets.
"""

from collections.abc import Sequence
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
    kernel: int = Field(3, ge=1, le=31, description="Side of a filter in pixels; odd.")

    @model_validator(mode="after")
    def _check(self) -> "MotionOptions":
        check_filters(self.channels, span=self.span, kernel=self.kernel)
        return self


def check_filters(channels: list[int], **sizes: int) -> None:
    """Refuse filters of even size, and channel counts out of range."""
    for name, size in sizes.items():
        if size % 2 == 0:
            raise ValueError(f"{name} is {size}, expected an odd number")
    if any(not 1 <= count <= WIDEST for count in channels):
        raise ValueError(f"channels are {channels}, expected numbers from 1 to {WIDEST}")


class EncoderOptions(Options):
    """Convolutions of stride 2, each with a norm and a rectifier; the last one gives the annotations.

    Or a Transformer over patches, whose states are the annotations. A frame of a video becomes a single vector.
    """

    channels: list[int] = Field(
        [32, 64, 128], min_length=1, max_length=8, description="Filters of each convolution; each halves the sides."
    )
    kernel: int = Field(5, ge=1, le=31, description="Side of a filter in pixels; odd.")
    patches: PatchOptions | None = Field(None, description="A Transformer over patches instead of the convolutions.")
    width: int = Field(128, ge=1, le=WIDEST, description="Width of a frame's vector, and of its motion's (videos).")
    motion: MotionOptions | None = Field(
        None, description="Convolutions over space and time, in addition to those over each frame (videos)."
    )

    @property
    def idle(self) -> tuple[str, ...]:
        return () if self.patches is None else ("channels", "kernel")

    @model_validator(mode="after")
    def _check(self) -> "EncoderOptions":
        check_filters(self.channels, kernel=self.kernel)
        defaults = [type(self).model_fields[name].default for name in ("channels", "kernel")]
        if self.patches is not None and [self.channels, self.kernel] != defaults:
            raise ValueError("channels and kernel belong to convolutions; omit them with patches")
        return self


class EncodedOptions(Options):
    """Options that every captioner has besides its own."""

    encoder: EncoderOptions = Field(
        EncoderOptions(), description="Encoder of pictures if data.features is 'own', trained with the decoder."
    )


class PictureEncoder(nn.Module):
    """a_i = v_i + Rect(Norm(Conv(…(x)…)))_i, with a learnt vector v_i for each place.

    Convolutions see what is there but not where, and captions say where. The norm covers all channels and places of one
    picture, so that other pictures in the batch change nothing.
    """

    def __init__(self, options: EncoderOptions, side: int) -> None:
        """Build an encoder for square pictures of `side` × `side` pixels."""
        super().__init__()
        self.side, places = side, _places_a_side(side, options.channels)
        self.convolutions = _convolutions(options)
        self.grid, self.depth = (places, places), options.channels[-1]
        self.places = nn.Parameter(torch.empty(places * places, self.depth))
        nn.init.normal_(self.places, std=0.5)

    def forward(self, pixels: Float[Tensor, "batch pixel 3"]) -> Float[Tensor, "batch place depth"]:
        """Return the annotations of pictures given as pixels from 0 to 1, row by row."""
        rows = pixels.unflatten(1, (self.side, self.side)).permute(0, 3, 1, 2)
        return self.convolutions(2 * rows - 1).flatten(2).transpose(1, 2) + self.places


class PatchPictureEncoder(nn.Module):
    """A Transformer over the patches of a picture; its states are the annotations, with learnt positions."""

    def __init__(self, options: PatchOptions, side: int) -> None:
        """Build an encoder for square pictures of `side` × `side` pixels."""
        super().__init__()
        across = -(-side // options.patch)
        self.side, self.patch, self.grid, self.depth = side, options.patch, (across, across), options.width
        self.encoder = PatchEncoder(options, COLOURS * options.patch**2, self.grid)

    @property
    def places(self) -> Float[Tensor, "place depth"]:
        """The learnt vector of each place."""
        return self.encoder.places.places.weight

    def forward(
        self, pixels: Float[Tensor, "batch pixel 3"], kept: Sequence[int] | None = None
    ) -> Float[Tensor, "batch place depth"]:
        """Return the annotations of pictures given as pixels from 0 to 1, row by row; `kept` are the patches read."""
        rows = pixels.unflatten(1, (self.side, self.side)).permute(0, 3, 1, 2)
        patches = cut_into_patches((2 * rows - 1).flatten(0, 1), self.patch)
        return self.encoder(patches.unflatten(0, (-1, COLOURS)).transpose(1, 2).flatten(2), kept)


class VideoEncoder(nn.Module):
    """v_i = p_i + [f(x_i); m(x)_i], one vector for each frame i of a video x (Yao et al. 2015, section 3):

        f(x_i) = Rect(W Rect(Norm(Conv2(…(x_i)…))))       content of the frame
        m(x)_i = Rect(W' Rect(Norm(Conv3(…(x)…)))_i)      motion around it: local temporal structure

    p_i is learnt for each frame: nothing else marks its time, and captions say what came first. The paper has no such
    vector; in the mean over all frames it is a constant. Without `motion` there is no m. Each norm covers one frame, or
    one video.
    """

    def __init__(self, options: EncoderOptions, side: int, frames: int) -> None:
        """Build an encoder for videos of `frames` square pictures of `side` × `side` pixels."""
        super().__init__()
        self.side, self.frames, self.grid, motion = side, frames, (1, frames), options.motion
        self.convolutions = _convolutions(options)
        self.shown = _frame_vector(options.channels, side, options.width)
        self.motion_convolutions = None if motion is None else _motion_convolutions(motion)
        self.moved = None if motion is None else _frame_vector(motion.channels, side, options.width)
        self.depth = options.width * (1 if motion is None else 2)
        self.places = nn.Parameter(torch.empty(frames, self.depth))
        nn.init.normal_(self.places, std=0.5)

    def forward(
        self, pixels: Float[Tensor, "batch pixel 3"], kept: Sequence[int] | None = None
    ) -> Float[Tensor, "batch frame depth"]:
        """Return the vectors of videos given as pixels from 0 to 1, frame by frame and row by row.

        `kept` are the frames whose vectors are returned; with motion these have seen the others too.
        """
        frames = 2 * pixels.unflatten(1, (self.frames, self.side, self.side)).movedim(-1, 2) - 1
        vectors = self.shown(self.convolutions(frames.flatten(0, 1)).unflatten(0, frames.shape[:2]).flatten(2))
        if self.motion_convolutions is not None and self.moved is not None:
            motion = self.motion_convolutions(frames.transpose(1, 2)).transpose(1, 2)
            vectors = torch.cat([vectors, self.moved(motion.flatten(2))], dim=-1)
        vectors = vectors + self.places
        return vectors if kept is None else vectors[:, list(kept)]


AnyEncoder = PictureEncoder | PatchPictureEncoder | VideoEncoder


def encoder_of(options: EncoderOptions, side: int, frames: int | None = None) -> AnyEncoder:
    """Build the encoder that the options describe, for square pictures or, with `frames`, for videos."""
    if frames is not None:
        return VideoEncoder(options, side, frames)
    return PictureEncoder(options, side) if options.patches is None else PatchPictureEncoder(options.patches, side)


def _convolutions(options: EncoderOptions) -> nn.Sequential:
    """Build convolutions from pictures (picture, colour, row, column) to channels on a coarser grid."""
    layers: list[nn.Module] = []
    for before, after in pairwise([COLOURS, *options.channels]):
        convolution = nn.Conv2d(before, after, options.kernel, stride=2, padding=options.kernel // 2)
        layers += [convolution, nn.GroupNorm(1, after), nn.ReLU()]
    return nn.Sequential(*layers)


def _motion_convolutions(options: MotionOptions) -> nn.Sequential:
    """Build convolutions from videos (video, colour, frame, row, column) to as many frames on a coarser grid."""
    layers: list[nn.Module] = []
    kernel = (options.span, options.kernel, options.kernel)
    for before, after in pairwise([COLOURS, *options.channels]):
        padding = (options.span // 2, options.kernel // 2, options.kernel // 2)
        convolution = nn.Conv3d(before, after, kernel, stride=(1, 2, 2), padding=padding)
        layers += [convolution, nn.GroupNorm(1, after), nn.ReLU()]
    return nn.Sequential(*layers)


def _frame_vector(channels: list[int], side: int, width: int) -> nn.Sequential:
    """Build a layer from the channels at all places of a frame to one vector."""
    return nn.Sequential(nn.Linear(channels[-1] * _places_a_side(side, channels) ** 2, width), nn.ReLU())


def _places_a_side(side: int, channels: list[int]) -> int:
    """Return the places per side after every convolution has halved `side` pixels."""
    for _ in channels:
        side = -(-side // 2)
    return side

"""Sizes of pictures, videos and sounds, read from the head of a file before anything is decoded."""

from io import BytesIO

from regard.base.extras import importing
from regard.base.faults import Fault
from regard.data.pictures.files import open_picture


def picture_pixels(content: bytes, moving: bool = False) -> int:
    """Return how many pixels a picture has, of all frames where a video is meant; 0 for what is no picture."""
    try:
        with open_picture(content, "The picture", lambda size: None) as picture:
            frames = int(getattr(picture, "n_frames", 1)) if moving else 1
            return picture.height * picture.width * frames
    except Fault:  # which whoever reads it tells
        return 0


def sound_seconds(content: bytes) -> float:
    """Return how many seconds a sound lasts; 0 for what is no sound. Readers never read more than its head says."""
    with importing("sound", "Reading sound files"):
        import soundfile
    try:
        with soundfile.SoundFile(BytesIO(content)) as file:
            return file.frames / file.samplerate if file.samplerate else 0.0
    except soundfile.LibsndfileError:  # which whoever reads it tells
        return 0.0

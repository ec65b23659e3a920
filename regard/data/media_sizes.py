"""Sizes of pictures, videos and sounds, read from a file's header before anything is decoded."""

from io import BytesIO

from regard.base.extras import importing
from regard.base.faults import Fault
from regard.data.pictures.files import open_picture


def picture_pixels(content: bytes, moving: bool = False) -> int:
    """Return a picture's number of pixels, over all frames if `moving`; 0 if it is not a picture."""
    try:
        with open_picture(content, "The picture", lambda size: None) as picture:
            frames = int(getattr(picture, "n_frames", 1)) if moving else 1
            return picture.height * picture.width * frames
    except Fault:  # reported when the file is read
        return 0


def sound_seconds(content: bytes) -> float:
    """Return the length of a sound in seconds, according to its header; 0 if it is not a sound."""
    with importing("sound", "Reading sound files"):
        import soundfile
    try:
        with soundfile.SoundFile(BytesIO(content)) as file:
            return file.frames / file.samplerate if file.samplerate else 0.0
    except soundfile.LibsndfileError:  # reported when the file is read
        return 0.0

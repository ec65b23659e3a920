"""Read files of captions, picture names and features."""

import re
from pathlib import Path

import numpy as np

from regard.base.faults import Fault
from regard.data.arrays import array_in
from regard.data.captions.options import FeatureFiles
from regard.data.catalogue.unpack import Unusable, read_content
from regard.data.corpora.text import file_of
from regard.data.lines import read_lines
from regard.data.tokenisers.words import split_words

# A picture's name, optionally the number of its caption, and the caption. After a number, spaces may replace the tab,
# as in one line of Flickr8k.
_LINE = re.compile(r"(?P<name>[^\t]*?\S)(?:#\d+\s+|\s*\t)(?P<caption>.*)")
_KINDS = (np.int8, np.float16, np.float32, np.float64)


def plain_words(caption: str) -> str:
    """Return a caption in plain words, as models learn it and metrics compare it: lower case, no punctuation.

    Hyphens and apostrophes inside a word stay.
    """
    words = split_words(caption.lower())
    return " ".join(word for word in words if any(character.isalnum() for character in word))


def read_captions(name: str) -> dict[str, list[str]]:
    """Return the captions of every picture by name, in file order; captions without a word are left out."""
    captions_by_name: dict[str, list[str]] = {}
    for number, line in enumerate(read_lines(file_of(name)), start=1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise Fault(f"{name}, line {number}: a line must hold a picture's name, a tab, a caption.")
        captions = captions_by_name.setdefault(match["name"].strip(), [])
        if words := plain_words(match["caption"]):  # some captions are empty, a full stop or an emoticon
            captions.append(words)
    if not any(captions_by_name.values()):
        raise Fault(f"{name} holds no caption.")
    return captions_by_name


def read_names(name: str) -> list[str]:
    """Read the names of pictures, one per line; refuse a name that occurs twice."""
    names = [line.strip() for line in read_lines(file_of(name)) if line.strip()]
    if not names:
        raise Fault(f"{name} names no picture.")
    if len(set(names)) < len(names):
        twice = next(picture for picture in names if names.count(picture) > 1)
        raise Fault(f"{name} names {twice} twice.")
    return names


def read_features(options: FeatureFiles, names: list[str]) -> np.ndarray:
    """Read the features (picture, place, width) of all pictures; there must be as many as names."""
    features = read_array(file_of(options.file), options.file)
    if features.ndim != 3:
        raise Fault(f"{options.file} has {features.ndim} axes, expected three: {options.axes}.")
    if options.axes == "width picture place":
        features = features.transpose(1, 2, 0)
    pictures, places, _ = features.shape
    if pictures != len(names):
        raise Fault(
            f"{options.file} has the features of {pictures:,} pictures, but {options.names} names {len(names):,}."
        )
    if places != options.grid[0] * options.grid[1]:
        raise Fault(f"{options.file} has {places} places per picture, which is not a grid of {options.grid}.")
    for name, picture in zip(names, features, strict=True):
        if not np.isfinite(picture).all():
            raise Fault(f"{options.file} holds a value that is not a finite number, for the picture {name}.")
    return features


def read_array(path: Path, name: str) -> np.ndarray:
    """Read the numbers in a .npy file, packed or not, without loading pickles; float64 becomes float32."""
    try:
        content = read_content(path)
    except Unusable as reason:
        raise Fault(f"{name} {reason}.") from None
    if not content.startswith(np.lib.format.MAGIC_PREFIX):
        raise Fault(f"{name} is not an array in numpy's format (.npy).")
    try:
        array = array_in(content)
    except ValueError as error:
        raise Fault(f"{name} is a damaged array: {str(error).rstrip('.')}.") from None
    if array.dtype not in _KINDS or not array.size:
        raise Fault(f"{name} must hold one array of numbers as int8, float16, float32 or float64.")
    with np.errstate(over="ignore"):  # values too large for float32 become infinite and are refused as such
        return array.astype(np.float32) if array.dtype == np.float64 else array

"""How near the features of pictures, made by the extra `pictures`, come to those that flickr8k is learnt from.

    .venv/bin/python benchmarks/picture_features.py [--count 1000]

The set has its test pictures as copies of 128 pixels a side only, while its features were made of the whole pictures at
224, so the two cannot be equal. Beside the cosine and the correlation of what is made of a copy with what is stored,
this prints how often the stored features that are nearest to those of a copy, among those of all copies, are those of
the same picture; and what such a copy costs on a picture that we do have whole, one that comes with matplotlib.
"""

import argparse
import io
import lzma
import tarfile

import matplotlib
import numpy as np
import torch
from PIL import Image

from regard.data.captions.components import Components, open_components
from regard.data.corpora.text import file_of
from regard.data.pictures.files import squash
from regard.models.efficientnet import SIDE, efficientnet_features

SMALL = 128
AT_ONCE = 20


def features_of(pictures: list[np.ndarray], components: Components) -> np.ndarray:
    """Reduced features (picture, place, width), some pictures at a time."""
    squares = torch.from_numpy(np.stack([squash(picture, SIDE) for picture in pictures]))
    return np.concatenate([components.reduce(efficientnet_features(part).numpy()) for part in squares.split(AT_ONCE)])


def cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The cosine of the vectors at each place."""
    return (one * other).sum(axis=-1) / (np.linalg.norm(one, axis=-1) * np.linalg.norm(other, axis=-1))


def all_cosines(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The cosines of every vector of one with every one of the other."""
    lengths = [np.linalg.norm(each, axis=1, keepdims=True) for each in (one, other)]
    return (one / lengths[0]) @ (other / lengths[1]).T


def copies(count: int) -> tuple[list[str], list[np.ndarray]]:
    """The names of test pictures and their small copies."""
    with tarfile.open(file_of("flickr8k:test_128px")) as archive:
        members = [member for member in archive.getmembers() if member.isfile()][:count]
        found = [Image.open(io.BytesIO(archive.extractfile(member).read())).convert("RGB") for member in members]
    return [member.name.rpartition("/")[2] for member in members], [np.asarray(each) for each in found]


def small_copy(picture: np.ndarray) -> np.ndarray:
    """What a picture looks like as the set's copies are: squashed to 128 pixels a side, as a JPEG."""
    content = io.BytesIO()
    Image.fromarray(squash(picture, SMALL)).save(content, "JPEG")
    return np.asarray(Image.open(content))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000, help="how many of the test pictures")
    asked = parser.parse_args()
    components = open_components(file_of("flickr8k:effnet_lite2_pca384.npz").read_bytes(), "components")
    names, pictures = copies(asked.count)
    rows = {name: row for row, name in enumerate(file_of("flickr8k:image_names.txt").read_text().split())}
    with lzma.open(file_of("flickr8k:effnet_lite2_7x7_pca384_int8.npy.xz")) as stream:
        kept = np.load(io.BytesIO(stream.read()), allow_pickle=False)
    stored = kept[:, [rows[name] for name in names]].transpose(1, 2, 0) * np.float32(components.step)
    made = features_of(pictures, components)
    flat = [each.reshape(len(names), -1) for each in (made, stored)]
    nearest = all_cosines(*flat).argmax(axis=1)
    print(f"{len(names):,} test pictures, from copies of {SMALL} pixels a side:")
    print(f"  cosine with the stored features at a place: {cosines(made, stored).mean():.3f}")
    print(f"  correlation over all numbers: {np.corrcoef(made.ravel(), stored.ravel())[0, 1]:.3f}")
    print(f"  nearest stored features are the picture's own: {(nearest == np.arange(len(names))).mean():.1%}")
    hopper = np.asarray(Image.open(f"{matplotlib.get_data_path()}/sample_data/grace_hopper.jpg").convert("RGB"))
    whole, copied = features_of([hopper, small_copy(hopper)], components)
    print(f"one picture at {hopper.shape[0]} × {hopper.shape[1]}, against its own copy of {SMALL} pixels:")
    print(f"  cosine at a place: {cosines(whole, copied).mean():.3f}")


if __name__ == "__main__":
    main()

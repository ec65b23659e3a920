"""Word vectors to and from files of word2vec, GloVe and fastText, which gensim and spaCy also read."""

from pathlib import Path

import torch

from regard.base.progress import Progress, Remark
from regard.base.recipe import write
from regard.base.version import __version__
from regard.data.tokenisers.spaces import SpaceTokeniser
from regard.data.vectors.files import read_vectors
from regard.engines.folders import MODEL_FOLDER, whole_folder
from regard.families import check_recipe
from regard.training import checkpoint


def import_vectors(path: Path, out: Path, most: int | None, progress: Progress, remark: Remark) -> None:
    """Make a model folder `out` from a file of vectors in any format: all words, or the first `most`.

    Whatever made them, they become a word2vec model with centre vectors only, because a file has no others, and none of
    the letter n-grams from which fastText composes words.
    """
    vectors = read_vectors(path, most, progress, remark)
    recipe = check_recipe(
        {
            "family": "word2vec",
            "task": "words",
            "data": {"train": f"imported from {path.name}; its text is not here", "tokeniser": {"kind": "spaces"}},
            "model": {"width": vectors.width},
        }
    )
    header = f"Written by regard {__version__}: the recipe of {path.name}, word vectors that were imported."
    weights = checkpoint.weights_to_bytes({"centres": torch.from_numpy(vectors.matrix)})
    files = {checkpoint.RECIPE: write(recipe, header).encode(), **SpaceTokeniser(vectors.words).files("tokeniser")}
    with whole_folder(out, MODEL_FOLDER) as partial:
        checkpoint.update_folder(partial, files | {checkpoint.WEIGHTS: weights})

"""Ready vectors, in a file or the folder of a word model, to initialise other models."""

from io import BytesIO
from pathlib import Path

from safetensors import SafetensorError
from safetensors.torch import load as load_tensors

from regard.base.faults import Fault
from regard.base.model_folder import WEIGHTS, read_folder, read_recipe
from regard.base.progress import Progress, Remark
from regard.base.recipe import CheckRecipe
from regard.base.tensors import read_shapes
from regard.data.vectors.files import read_vectors
from regard.data.vectors.word_vectors import WordVectors
from regard.tasks.words.options import WordsRecipe
from regard.tasks.words.task import Words


def open_vectors(check: CheckRecipe, path: Path, progress: Progress, remark: Remark) -> WordVectors:
    """Read vectors from a word2vec, GloVe or fastText file, or from the folder of a word model."""
    return vectors_in(path, check) if path.is_dir() else read_vectors(path, progress=progress, remark=remark)


def vectors_in(folder: Path, check: CheckRecipe) -> WordVectors:
    """Return the centre vectors of the words in a model folder."""
    recipe = check(read_recipe(folder))
    if not isinstance(recipe, WordsRecipe):
        raise Fault(f"{folder} is a model of the family {recipe.family}, which has no word vectors.")
    files = read_folder(folder)
    if WEIGHTS not in files:
        raise Fault(f"{folder} has no {WEIGHTS} yet: its training has not finished.")
    read_shapes(BytesIO(files[WEIGHTS]), str(folder / WEIGHTS))
    task = Words.build(recipe, files)
    try:
        task.load_weights(load_tensors(files[WEIGHTS]))
    except SafetensorError as error:
        raise Fault(f"{folder / WEIGHTS} does not hold tensors: {error}.") from None
    return task.word_vectors("centres")

"""regard trains, runs and looks inside attention models.

The main functions, each with its own `help`:

- `regard.load(folder)` returns a trained model, with methods such as `translate`, `generate`, `answer` and `look`.
- `regard.train(recipe, settings)` trains a model from a recipe or from text files, and returns it.
- `regard.distil(teacher, text, out=…)` trains a small student of a translator or a language model, and returns it.
- `regard.evaluate(model)` scores a model on its own test data or on files.
- `regard.compare(recipe, vary)` trains variants of a recipe and tests which differences are significant.
- `regard.back_translate(model, file, out)` makes training pairs from text of one language.
- `regard.filter_pairs(pairs, out)` keeps the good pairs of a corpus.
- `regard.register(plugin)` adds families, metrics and more from your own package.
- `regard.watching(model)` collects the weights of every attention inside a `with` block.
- `regard.editing(model, edits)` changes weights, heads and outputs inside a `with` block; `regard.Edit` is one change,
  `regard.Edits` a record of several.
- `regard.Fault` is raised when an argument is wrong; its sentences say what is wrong and what to do.

`from regard.metrics import score` scores texts, and `regard.attention` holds the attention that all models share.

Results display themselves in a terminal and in a notebook. Torch is loaded when first needed, so importing this is
fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from regard.base.notebook import Pictured
from regard.base.version import __version__

if TYPE_CHECKING:
    from regard.api import back_translate, compare, distil, evaluate, filter_pairs, train
    from regard.attention.editing import editing
    from regard.attention.watch import watching
    from regard.base.edits import Edit, Edits
    from regard.base.faults import Fault
    from regard.base.plugins import register
    from regard.model import Model, load

__all__ = [
    "Edit",
    "Edits",
    "Fault",
    "Model",
    "__version__",
    "back_translate",
    "compare",
    "distil",
    "editing",
    "evaluate",
    "filter_pairs",
    "load",
    "register",
    "train",
    "watching",
]

_LAZY = {
    "Edit": "regard.base.edits",
    "Edits": "regard.base.edits",
    "Fault": "regard.base.faults",
    "Model": "regard.model",
    "back_translate": "regard.api",
    "compare": "regard.api",
    "distil": "regard.api",
    "editing": "regard.attention.editing",
    "evaluate": "regard.api",
    "filter_pairs": "regard.api",
    "load": "regard.model",
    "register": "regard.base.plugins",
    "train": "regard.api",
    "watching": "regard.attention.watch",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'regard' has no attribute {name!r}")


def _in_notebook(looks: Any) -> str:
    from regard.seeing.notebook import in_notebook

    return in_notebook(looks)


Pictured.in_notebook = _in_notebook  # lower layers show themselves by the pages above them


def __dir__() -> list[str]:
    """List the names for `help` and completion, whether loaded or not."""
    return sorted({*globals(), *__all__})

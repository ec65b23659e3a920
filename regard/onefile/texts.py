"""What the pages of language models, classifiers, taggers and BERTs need besides their graphs."""

from typing import Any

from regard.engines.onnx.texts import text_parts
from regard.loading import Loaded
from regard.onefile.tokens import tokeniser_data


def text_data(model: Loaded) -> tuple[str, dict[str, Any]] | None:
    """Return the desk of a model that reads or continues texts, and its data; None for a model of another kind."""
    parts = text_parts(model)
    if parts is None:
        return None
    about, task = parts.about, model.task
    match about["kind"]:
        case "language":
            sizes = {"context": about["context"], "heads": about["past"]["heads"], "depth": about["past"]["key_depth"]}
            tokeniser = tokeniser_data(task.tokeniser, _options(model))
            return "write", {"sizes": sizes, "forgets": not task.model.stops_when_full, "tokeniser": tokeniser}
    return None


def _options(model: Loaded) -> Any:
    """Return the complete options of a tokeniser."""
    data: Any = model.recipe.data
    return data.tokeniser.full()

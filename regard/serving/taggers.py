"""Served taggers that find what another served tagger reads beside words, so that it takes plain text."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from regard.base.faults import Fault
from regard.serving.served import Served, ServedModel

if TYPE_CHECKING:
    from regard.model import Model


def find_taggers(model: Served, served: Mapping[str, Served], names: Sequence[str], raw: bool) -> "list[Model]":
    """Return the taggers named or, for raw text, those served that give the tags that the model reads beside words."""
    from regard.tasks.tagging.task import Tagging
    from regard.verbs.answer.tagging import finds_column

    if names:
        return [_named(served, name) for name in names]
    if not raw or not isinstance(model, ServedModel) or not isinstance(task := model.model.task, Tagging):
        return []
    if model.model.own_taggers:
        return []
    others = [each.model for each in served.values() if isinstance(each, ServedModel) and each is not model]
    plain = [each for each in others if isinstance(each.task, Tagging) and not each.task.data.read_beside]
    columns = range(len(task.data.read_beside))
    fitting = [next((each for each in plain if finds_column(task, place, each.task)), None) for place in columns]
    return [each for each in fitting if each is not None]


def _named(served: Mapping[str, Served], name: str) -> "Model":
    model = served.get(name)
    if not isinstance(model, ServedModel):
        raise Fault(f"There is no tagger {name[:40]!r} here; there are {', '.join(served)}.")
    return model.model

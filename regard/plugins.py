"""Row types for plugins; importing this does not load torch.

A plugin is a function that returns a `Plugin`, as docs/extend.md shows. A row names classes as module:name strings,
which are imported when needed.
"""

from typing import TYPE_CHECKING, Any

from regard.base.places import find_place
from regard.base.plugins import Plugin as Plugin
from regard.base.plugins import register as register
from regard.base.rows import ExportRow as ExportRow
from regard.base.rows import NormaliserRow as NormaliserRow
from regard.base.rows import ScoreRow as ScoreRow
from regard.families.family import Family as Family
from regard.promises.toy import Toy as Toy
from regard.tasks import Kind as Kind
from regard.tasks import Way as Way
from regard.verbs.table import Room as Room

if TYPE_CHECKING:
    from regard.metrics.text import TextMetric as TextMetric
    from regard.viewing.drawers import Drawer as Drawer

# Rows that few plugins have, and that import numpy.
_LATE = {"Drawer": "regard.viewing.drawers:Drawer", "TextMetric": "regard.metrics.text:TextMetric"}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return find_place(_LATE[name])
    raise AttributeError(f"module 'regard.plugins' has no attribute {name!r}")

"""Row types for packages from outside; importing this loads no torch.

A plugin is a function that returns a `Plugin`, as docs/extend.md shows. A row names classes by strings, module:name,
which are imported when they are needed.
"""

from regard.base.plugins import Plugin as Plugin
from regard.base.plugins import register as register
from regard.families.family import Family as Family
from regard.promises.toy import Toy as Toy
from regard.tasks import Kind as Kind
from regard.tasks import Way as Way
from regard.verbs.table import Room as Room

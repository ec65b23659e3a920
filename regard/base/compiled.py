"""Decide whether loops compiled by numba are worth their start-up time."""

import sys
from importlib.util import find_spec

# Numbers of items, tokens or n-grams, from which compiled loops pay off: numba takes a second or two to import and to
# load compiled code; after that, a call costs next to nothing.
_WITH_IMPORT = 600_000
_ONCE_IMPORTED = 2_000


def pays_to_compile(items: int) -> bool:
    """Return True if compiled loops over this many items are faster than plain ones, and numba is installed.

    Both give the same results; only the time differs.
    """
    if sys.modules.get("numba") is not None:
        return items >= _ONCE_IMPORTED
    return items >= _WITH_IMPORT and find_spec("numba") is not None

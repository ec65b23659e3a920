"""Decision if loops that numba compiles are worth their start-up time."""

import sys
from importlib.util import find_spec

# Items, tokens or n-grams, from which on compiled loops pay: numba takes a second or two to import and to load what it
# compiled before, and once it is there a call costs next to nothing.
_WITH_IMPORT = 600_000
_ONCE_IMPORTED = 2_000


def pays_to_compile(items: int) -> bool:
    """Return True if compiled loops over so many items take less time than plain ones, and numba is installed.

    Both give the same results, so the answer decides about nothing but time.
    """
    if sys.modules.get("numba") is not None:
        return items >= _ONCE_IMPORTED
    return items >= _WITH_IMPORT and find_spec("numba") is not None

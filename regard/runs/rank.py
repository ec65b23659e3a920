"""This process as one rank of several that others have started, as torchrun does."""

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from regard.base.faults import Fault
from regard.base.progress import Remark
from regard.training.process_group import Address, LostRank, ProcessGroup, open_store
from regard.training.pulse import SILENCE_SECONDS, Pulse
from regard.training.ranks import ALONE, Ranks


@contextmanager
def this_rank(remark: Remark) -> Iterator[Ranks]:
    """The ranks that this process belongs to by its environment; alone, where that names none.

    A rank that falls silent is named by the first of the others, and all of them end.
    """
    address = Address.in_environment()
    if address is None:
        yield ALONE
        return

    def end(sentence: str) -> None:
        remark(f"{sentence}; --resume goes on from the last checkpoint.")
        sys.stderr.flush()
        os._exit(1)  # the main thread may wait for the lost one without end

    group = ProcessGroup(address, open_store(address))
    pulse = Pulse(group, on_silence=end)
    try:
        yield group
    except LostRank:
        time.sleep(2 * SILENCE_SECONDS)  # in which the pulse finds out who it was, and ends this process
        raise Fault("Another rank has gone away; --resume goes on from the last checkpoint.") from None
    pulse.stop()
    group.close()

"""How fast a run was trained, all its sittings together."""

import json
import time
from pathlib import Path

from regard.faults import Fault
from regard.files import write_file
from regard.parsing import parse_json
from regard.training.events import Ended, Event, Stepped, Validated

PACE = "pace.json"  # in the folder training of a run


class Pace:
    """Counts the items a run has learnt from and the seconds it took, time spent validating not counted.

    Both are kept in a file, so that a run that goes on adds to what it did before.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / PACE
        self.items, self.seconds = read_pace(folder)
        self._since = time.monotonic()

    def __call__(self, event: Event) -> None:
        now = time.monotonic()
        if isinstance(event, Stepped):
            self.items, self.seconds = self.items + event.items, self.seconds + now - self._since
        if isinstance(event, Validated | Ended):
            write_file(self.path, json.dumps({"items": self.items, "seconds": self.seconds}).encode())
        self._since = time.monotonic()


def read_pace(folder: Path) -> tuple[int, float]:
    """The items and seconds kept in a folder; nothing where none were."""
    try:
        kept = parse_json((folder / PACE).read_bytes(), PACE)
        return int(kept["items"]), float(kept["seconds"])
    except (OSError, ValueError, KeyError, TypeError, OverflowError, Fault):
        return 0, 0.0

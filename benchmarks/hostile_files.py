"""Files that are damaged at random: is each read or refused, within bounded time and memory, and by every reader?

    .venv/bin/python benchmarks/hostile_files.py [--mutations 2000] [--readers "text, gzip" …] [--seed 0]

For each reader in `tests/hostile/hostile_readers.py` its honest file is damaged so often. Each copy is read in its own
process. Refused and accepted are both right; a fault of regard's own, a process that dies, more than 10 seconds of a
processor, or more than 200 MB beyond four times the file's size, is not. The exit status is 1 if there was any.
With HOSTILE_KEPT=FOLDER in the environment, copies that show one are kept there.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hostile_runner import Outcome

TESTS = Path(__file__).resolve().parent.parent / "tests"
COLUMNS = "| reader | files | refused | accepted | faults | crashed | unbounded | most seconds | most MB |"


def row(reader: str, outcomes: "list[Outcome]") -> str:
    """One line of the table."""
    kinds = Counter(outcome.kind for outcome in outcomes)
    counts = [len(outcomes), *(kinds[kind] for kind in ("refused", "accepted", "fault", "crashed"))]
    counts.append(sum(not outcome.is_bounded for outcome in outcomes))
    seconds = max(outcome.seconds for outcome in outcomes)
    megabytes = max(outcome.megabytes for outcome in outcomes)
    return f"| {reader} | {' | '.join(f'{count:,}' for count in counts)} | {seconds:.1f} | {megabytes:.0f} |"


def main() -> None:
    sys.path[:0] = [str(TESTS / "hostile"), str(TESTS)]
    from hostile_readers import READERS
    from hostile_runner import read_mutations

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=int, default=2000)
    parser.add_argument("--readers", nargs="*", default=[*READERS])
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    print(COLUMNS, "|".join(["", " --- ", *[" ---: "] * 8, ""]), sep="\n", flush=True)
    wrong = Counter[str]()
    for reader in asked.readers:
        outcomes = list(read_mutations(reader, asked.mutations, asked.seed))
        print(row(reader, outcomes), flush=True)
        for outcome in outcomes:
            if not outcome.is_right:
                wrong[f"{reader}: {outcome.kind}: {outcome.reason}"] += 1
    for reason, count in wrong.most_common():
        print(f"{count:,} × {reason}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

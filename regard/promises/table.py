"""The table of promises, and the check of a family against all of them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from regard.base.faults import Fault
from regard.promises import explaining, learning, using
from regard.promises.purity import GlobalChance, watch_python
from regard.promises.toy import Toy
from regard.promises.trial import Broken, DoesNotApply, Trial, train_toy

TRAINS = "its toy is trained to the end"
PROMISES: dict[str, Callable[[Trial], None]] = {
    "its rows agree with its classes": using.rows_agree_with_classes,
    "batches are the same from any start": learning.same_batches_from_any_start,
    "batches are the same in another thread": learning.same_batches_in_another_thread,
    "a resumed run has the same bits as an uninterrupted one": learning.resumed_is_never_stopped,
    "a batch in pieces has the same gradients": learning.splitting_changes_nothing,
    "rows measure the same together and alone": learning.batch_mates_change_nothing,
    "rows add up to the measures": learning.rows_add_up,
    "its measures can be judged": learning.measures_are_judged,
    "tallies of a loss are printed and kept": learning.tallies_are_printed_and_kept,
    "a saved and a watched model measure the same": using.saved_and_watched_are_the_same,
    "a watched model answers the same": using.watched_answers_the_same,
    "inputs have the same answers together and alone": using.together_is_alone,
    "its attention is drawn": using.it_is_drawn,
    "its decisions can be explained": explaining.decisions_can_be_explained,
    "verbs that it lacks are refused": using.refusals_say_what_to_use,
}


class Verdict(NamedTuple):
    """A promise, whether it holds (None if it does not apply), and the reason in a sentence."""

    promise: str
    is_held: bool | None
    reason: str = ""


def check_family(family: str, toy: Toy, folder: Path) -> Iterator[Verdict]:
    """Train the toy of a family in a folder, and check each promise; every failure gives a reason."""
    watch_python()
    try:
        trial = train_toy(family, toy, folder)
    except Exception as error:
        yield Verdict(TRAINS, False, _reason(error))
        return
    yield Verdict(TRAINS, True)
    for promise, check in PROMISES.items():
        try:
            check(trial)
        except DoesNotApply as reason:
            yield Verdict(promise, None, str(reason))
        except Exception as error:
            yield Verdict(promise, False, _reason(error))
        else:
            yield Verdict(promise, True)


def _reason(error: Exception) -> str:
    """Return what went wrong in one line; other errors than our own begin with their type."""
    first = next(iter(str(error).splitlines()), "")
    return (
        first if isinstance(error, Broken | Fault | GlobalChance) else f"{type(error).__name__}: {first}".rstrip(": ")
    )

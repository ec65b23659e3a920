"""A process started by `regard train --processes`: it trains as one of several ranks.

It does not print its own faults: the process that started it does, in one sentence.
"""

import json
import os
import sys
import traceback
from datetime import timedelta
from pathlib import Path
from typing import NoReturn

from regard.base.faults import Fault
from regard.base.processes import die_with_parent
from regard.hardware.devices import wait_for_gpu

LEADERS_LAST_WORK = timedelta(hours=1)  # after training: drawing the curve and writing the model folder's last files


def main() -> NoReturn:
    """Train the job in the store as the rank named by the environment; exit with a status that says how it ended."""
    die_with_parent()
    status = 1
    try:
        status = _train()
    except KeyboardInterrupt:
        status = 130
        wait_for_gpu()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # at once: threads of a lost group may wait forever


def _train() -> int:
    from regard.console.refused import refusal_sentence
    from regard.runs.planning.allowance import Allowance
    from regard.runs.ranks import INTERRUPTED, LOST, Job
    from regard.runs.start import console_audience, silent_audience, train_table
    from regard.training.process_group import Address, LostRank, ProcessGroup, open_store
    from regard.training.pulse import Farewell, Pulse, say_farewell

    address = Address.in_environment()
    assert address is not None
    store = open_store(address)
    job = Job(**json.loads(store.get("job")))
    try:
        group = ProcessGroup(address, store)
        Pulse(group, on_silence=None)
        started = train_table(
            job.table,
            job.settings,
            Path(job.folder),
            console_audience() if group.leads and not job.quiet else silent_audience(),
            resume=job.resume,
            overwrite=job.overwrite,
            allowance=None if job.minutes is None else Allowance(job.minutes, job.began),
            choices=job.choices,
            ranks=group,
        )
    except LostRank:
        return LOST
    except Fault as fault:
        say_farewell(store, address.rank, Farewell(True, fault.sentences))
        return 2
    except Exception as error:
        if sentence := refusal_sentence(error):
            say_farewell(store, address.rank, Farewell(True, [sentence]))
            return 2
        if os.environ.get("REGARD_TRACEBACK"):
            traceback.print_exc()
        first = (str(error).splitlines() or [""])[0]
        say_farewell(store, address.rank, Farewell(False, [f"{type(error).__name__}: {first}"]))
        return 1
    if group.leads:
        outcome = {"was_finished": started.was_finished, "interrupted": started.interrupted}
        store.set("outcome", json.dumps(outcome))
    else:
        store.wait(["outcome"], LEADERS_LAST_WORK)  # no rank leaves while another may still need it
    return INTERRUPTED if started.interrupted else 0

"""Workers of a Ray cluster that bring shards to their ends, by Ray Data; a node may go away in the middle.

All nodes see the input, the model and the output's folder under the same paths. Ray starts a worker that is gone
elsewhere and gives it the shard once more; what was done of it is on disk, and the new worker goes on from there.
"""

import logging
import os
import re
import socket
import time
from collections.abc import Iterator
from typing import Any

from regard.base.extras import importing
from regard.base.faults import Fault
from regard.base.progress import Progress
from regard.console.refused import refusal_sentence
from regard.verbs.translate.bulk.finishing import BulkJob, ShardTranslator
from regard.verbs.translate.bulk.shards import Shard
from regard.verbs.translate.bulk.workers import Tally
from regard.verbs.translate.line_translator import LongLines
from regard.verbs.translate.unfinished import Held

_PATIENCE = 60.0  # seconds that a worker which is gone may still hold its shard
_REACHED_WITHIN = 5.0  # seconds, for a cluster that is there
_LOOK = 0.5  # seconds between two looks at whether it does

Row = dict[str, Any]  # what travels through Ray: numbers, texts and lists of them


class RayWorker:
    """Worker of the cluster: a model that is loaded once, and shard after shard."""

    def __init__(self, job: BulkJob, shards: list[Shard]) -> None:
        self.translator, self.shards = ShardTranslator(job), shards

    def __call__(self, row: Row) -> Row:
        """Finish the shard of a row; faults travel back as sentences, for Ray would try again what cannot succeed."""
        found = LongLines()
        try:
            found, sentences = self._finish(self.shards[row["place"]]), list[str]()
        except Fault as fault:
            sentences = list(fault.sentences)
        except OSError as error:
            if (sentence := refusal_sentence(error)) is None:
                raise
            sentences = [sentence]
        return {**row, "sentences": sentences, "long": [found.longest, found.count, found.first]}

    def _finish(self, shard: Shard) -> LongLines:
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return self.translator.finish(shard)
            except Held:
                if time.monotonic() > until:
                    raise
                time.sleep(_LOOK)


def finish_on_ray(job: BulkJob, shards: list[Shard], workers: int | None, progress: Progress) -> Tally:
    """Bring all shards to their ends on the cluster that RAY_ADDRESS names, or else on one of this machine alone."""
    with importing("ray", "--on ray"):
        import ray
        import ray.data
    tally, total, done = Tally(), sum(shard.lines.count for shard in shards), 0
    _join_cluster(ray)
    try:
        for row in _finished_rows(ray, job, shards, workers):
            if len(row["sentences"]):
                raise Fault(*row["sentences"])
            tally.long_lines = tally.long_lines.with_others(LongLines(*map(int, row["long"])))
            done += shards[row["place"]].lines.count
            progress("translating", done, total)
    finally:
        ray.shutdown()
    return tally


def _join_cluster(ray: Any) -> None:
    address = os.environ.get("RAY_ADDRESS")
    try:
        if address and (place := re.fullmatch(r"(?:ray://)?\[?([^/\]]+)\]?:(\d{1,5})", address)):
            # Ray itself tries for minutes, and writes a page of lines about it.
            socket.create_connection((place[1], int(place[2])), _REACHED_WITHIN).close()
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, OverflowError):
        raise Fault(
            f"No Ray cluster answers at {address}, which RAY_ADDRESS names; start one with `ray start --head`, "
            "or unset RAY_ADDRESS to compute on this machine."
        ) from None


def _finished_rows(ray: Any, job: BulkJob, shards: list[Shard], workers: int | None) -> Iterator[Row]:
    """A row for each shard, as it is finished."""
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    wanted = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    rows = ray.data.from_items([{"place": place} for place in range(len(shards))], override_num_blocks=len(shards))
    # As many workers as there is room for: fewer, when a node is gone.
    pool = ray.data.ActorPoolStrategy(min_size=1, max_size=min(wanted, len(shards)))
    finished = rows.map(RayWorker, fn_constructor_args=(job, shards), compute=pool, num_cpus=1)
    yield from finished.iter_rows()

"""Workers of a Ray cluster that finish shards with Ray Data; a node may disappear in the middle.

All nodes see the input, the model and the output folder under the same paths. Ray restarts a lost worker elsewhere
with the same shard; what was done is on disk, and the new worker continues from there.
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

_PATIENCE = 60.0  # seconds that a lost worker may still hold its shard
_REACHED_WITHIN = 5.0  # seconds to reach a cluster
_LOOK = 0.5  # seconds between two attempts

Row = dict[str, Any]  # what travels through Ray: numbers, texts and lists of them


class RayWorker:
    """A worker of the cluster: loads the model once and finishes shard after shard."""

    def __init__(self, job: BulkJob, shards: list[Shard]) -> None:
        self.translator, self.shards = ShardTranslator(job), shards

    def __call__(self, row: Row) -> Row:
        """Finish the shard of a row; faults are returned as sentences, because Ray would retry after an exception."""
        long_lines = LongLines()
        try:
            long_lines, sentences = self._finish(self.shards[row["place"]]), list[str]()
        except Fault as fault:
            sentences = list(fault.sentences)
        except OSError as error:
            if (sentence := refusal_sentence(error)) is None:
                raise
            sentences = [sentence]
        return {**row, "sentences": sentences, "long": [long_lines.longest, long_lines.count, long_lines.first]}

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
    """Finish all shards on the cluster that RAY_ADDRESS names, or else on a cluster of this machine alone."""
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
            # Ray itself tries for minutes and prints a page about it.
            socket.create_connection((place[1], int(place[2])), _REACHED_WITHIN).close()
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, OverflowError):
        raise Fault(
            f"No Ray cluster answers at {address}, which RAY_ADDRESS names; start one with `ray start --head`, "
            "or unset RAY_ADDRESS to compute on this machine."
        ) from None


def _finished_rows(ray: Any, job: BulkJob, shards: list[Shard], workers: int | None) -> Iterator[Row]:
    """Yield a row for each shard as it is finished."""
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    most = workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
    rows = ray.data.from_items([{"place": place} for place in range(len(shards))], override_num_blocks=len(shards))
    # As many workers as there is room for; fewer if a node is lost.
    pool = ray.data.ActorPoolStrategy(min_size=1, max_size=min(most, len(shards)))
    finished = rows.map(RayWorker, fn_constructor_args=(job, shards), compute=pool, num_cpus=1)
    yield from finished.iter_rows()

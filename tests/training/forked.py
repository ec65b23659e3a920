"""Ranks for tests: forks of this process, which need not load torch again, each with its part of the work."""

import json
import multiprocessing
import socket
import traceback
import warnings
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

import torch

from regard.training.process_group import Address, ProcessGroup, TCPStore, open_store
from regard.training.ranks import ALONE, Ranks

PATIENCE = 120  # seconds: the machine may be busy
BEGINNING, TRIES = 20, 5  # seconds until a fork has started, and how often to fork again
BEGUN = "begun"


def on_ranks(size: int, work: Callable[[Ranks], Any]) -> list[Any]:
    """Return the result of `work` on each rank as JSON; with a single rank, simply call it.

    A fork inherits this process's locks and waits forever if a thread held one. In that case all are forked again.
    """
    if size == 1:
        return [json.loads(json.dumps(work(ALONE)))]
    for _ in range(TRIES):
        if (answers := _on_forks(size, work)) is not None:
            break
    assert answers is not None, "forks of this process do not begin"
    for rank, answer in enumerate(answers):
        assert isinstance(answer, list), f"rank {rank}: {answer}"
    return [json.loads(answer[0]) for answer in answers]


def _on_forks(size: int, work: Callable[[Ranks], Any]) -> list[Any] | None:
    """Return each fork's answer, a list or an error; return None if one has not even started."""
    store = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    context = multiprocessing.get_context("fork")
    lines = [context.Pipe(duplex=False) for _ in range(size)]
    processes = [
        context.Process(target=_serve, args=(Address(rank, size, rank, "127.0.0.1", store.port, False), work, theirs))
        for rank, (_, theirs) in enumerate(lines)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about forks with threads, from Python 3.12 on
        for process in processes:
            process.start()
    try:
        first = [ours.recv() if ours.poll(BEGINNING) else None for ours, _ in lines]
        if None in first:
            return None
        return [
            one if one != BEGUN else ours.recv() if ours.poll(PATIENCE) else "no answer"
            for one, (ours, _) in zip(first, lines, strict=True)
        ]
    finally:
        for process in processes:
            process.kill()
            process.join()


def _serve(address: Address, work: Callable[[Ranks], Any], line: Connection) -> None:
    try:
        torch.set_num_threads(1)
        store = open_store(address)
        line.send(BEGUN)
        group = ProcessGroup(address, store, seconds=PATIENCE)
        line.send([json.dumps(work(group))])
        group.gather("all are done")
    except BaseException:
        line.send(traceback.format_exc())


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])

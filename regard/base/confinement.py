"""Read untrusted files that native code parses in a separate process with limited memory and time.

A C++ parser may trust a number in a file and crash the whole process, or take all memory. In a limited process, such a
file is refused with a message. Only bytes come back, never a pickle.
"""

import json
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from regard.base.faults import Fault
from regard.base.processes import die_with_parent, end_in_words

FREE_BYTES, TIMES_THE_FILE = 200_000_000, 4  # memory in addition to that of the process at its start
SECONDS = 10  # of CPU time between two messages
_MESSAGE, _FAULT, _END = b"+", b"!", b"."
_START = "import sys; sys.path[:] = sys.argv[2:]; from {module} import {name}; {name}(int(sys.argv[1]))"


def read_confined(reader: Callable[[int], None], request: Any, file: Path) -> Iterator[bytes]:
    """Yield the messages of a process in which `reader` serves a request, which must be JSON-serialisable.

    `reader` is a module-level function that calls `serve`. If the process ends in any other way, the file is at fault.
    """
    ours, others = socket.socketpair()
    connection, theirs = Connection(ours.detach()), Connection(others.detach())
    code = _START.format(module=reader.__module__, name=reader.__name__)
    with theirs:
        # A separate session shields it from Ctrl-C, which the main process handles.
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(theirs.fileno()), *map(str, sys.path)],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # hides what a library prints before it aborts
            start_new_session=True,
        )
    try:
        with connection:
            connection.send_bytes(json.dumps(request).encode())
            while not (message := connection.recv_bytes()).startswith(_END):
                if message.startswith(_FAULT):
                    raise Fault(message[1:].decode())
                yield message[1:]
    except (EOFError, ConnectionError):
        how = end_in_words(process.wait())
        raise Fault(f"{file} is damaged or takes too much to read: the process that read it {how}.") from None
    finally:
        process.kill()
        process.wait()


def serve(descriptor: int, read: Callable[[Any], Iterator[bytes]]) -> None:
    """Answer one request in a process that `read_confined` has started."""
    die_with_parent()
    with Connection(descriptor) as connection, suppress(ConnectionError):  # the reader may have stopped early
        try:
            for piece in read(json.loads(connection.recv_bytes())):
                connection.send_bytes(_MESSAGE + piece)
                allow_seconds(SECONDS)
            connection.send_bytes(_END)
        except Fault as fault:
            connection.send_bytes(_FAULT + str(fault).encode())


def allow_file(path: Path) -> None:
    """Limit this process to the memory and time that an honest file of this size may need."""
    allowed = FREE_BYTES + TIMES_THE_FILE * path.stat().st_size
    size, *_, data, _ = (int(pages) * resource.getpagesize() for pages in Path("/proc/self/statm").read_text().split())
    for limit, used in ((resource.RLIMIT_AS, size), (resource.RLIMIT_DATA, data)):
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (used + allowed if hard < 0 else min(used + allowed, hard), hard))
    allow_seconds(SECONDS)


def allow_seconds(seconds: int) -> None:
    """Limit this process to this much more CPU time."""
    times = os.times()
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    until = int(times.user + times.system) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until if hard < 0 else min(until, hard), hard))

"""Files of strangers that native code parses, read in a process of their own: its memory and its time are bounded.

A parser in C++ may trust a number in a file and end the whole process, or take all memory. In a process that may have
only so much, such a file is refused in a sentence. What comes back is bytes and never a pickle.
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

FREE_BYTES, TIMES_THE_FILE = 200_000_000, 4  # memory beyond what the process has at its start
SECONDS = 10  # of a processor, from one message to the next
_MESSAGE, _FAULT, _END = b"+", b"!", b"."
_START = "import sys; sys.path[:] = sys.argv[2:]; from {module} import {name}; {name}(int(sys.argv[1]))"


def read_confined(reader: Callable[[int], None], request: Any, file: Path) -> Iterator[bytes]:
    """Yield the messages of a process in which `reader` serves a request, which must be fit for JSON.

    `reader` is a function of a module that calls `serve`. A process that ends otherwise is a fault of the file.
    """
    ours, others = socket.socketpair()
    connection, theirs = Connection(ours.detach()), Connection(others.detach())
    code = _START.format(module=reader.__module__, name=reader.__name__)
    with theirs:
        # A session of its own keeps it from Ctrl-C, which is for the main process to handle.
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(theirs.fileno()), *map(str, sys.path)],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # what a library says before it ends itself
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
    with Connection(descriptor) as connection, suppress(ConnectionError):  # nobody may want the rest
        try:
            for piece in read(json.loads(connection.recv_bytes())):
                connection.send_bytes(_MESSAGE + piece)
                allow_seconds(SECONDS)
            connection.send_bytes(_END)
        except Fault as fault:
            connection.send_bytes(_FAULT + str(fault).encode())


def allow_file(path: Path) -> None:
    """Let this process take the memory and the time that reading an honest file of this size may need."""
    allowed = FREE_BYTES + TIMES_THE_FILE * path.stat().st_size
    size, *_, data, _ = (int(pages) * resource.getpagesize() for pages in Path("/proc/self/statm").read_text().split())
    for limit, used in ((resource.RLIMIT_AS, size), (resource.RLIMIT_DATA, data)):
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (used + allowed if hard < 0 else min(used + allowed, hard), hard))
    allow_seconds(SECONDS)


def allow_seconds(seconds: int) -> None:
    """Let this process keep a processor busy for so long from now on, and no longer."""
    times = os.times()
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    until = int(times.user + times.system) + seconds + 1
    resource.setrlimit(resource.RLIMIT_CPU, (until if hard < 0 else min(until, hard), hard))

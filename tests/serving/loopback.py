"""A loopback server in a thread of the test."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from regard.serving.http.guard import Guard
from regard.serving.http.server import Server, address_of, bind, configure

WAIT = 20.0  # seconds, for what takes a moment


@contextmanager
def on_loopback(app: Guard) -> Iterator[str]:
    """Yield its address; at the end it finishes the requests it accepted."""
    listening = bind("127.0.0.1", 0)
    ready = threading.Event()
    server = Server(configure(app, 60), app, ready.set)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield address_of(listening)
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
        assert not thread.is_alive(), "the server was asked to stop and did not"


def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.005)

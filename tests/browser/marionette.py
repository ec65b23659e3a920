"""Firefox without a window, driven through its own protocol, Marionette, which needs no driver program."""

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FIREFOXES = ("firefox", "firefox-esr")
_PATIENCE = 60.0  # seconds for Firefox to start


class Firefox:
    """One tab, asked for scripts over a socket on loopback: each message is its length, a colon and JSON."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._unread, self._number = connection, b"", 0
        self._read()  # its greeting
        self.ask("WebDriver:NewSession", {})

    def ask(self, command: str, parameters: dict[str, Any]) -> Any:
        """Return the answer to a command; fail the test on an error."""
        self._number += 1
        message = json.dumps([0, self._number, command, parameters]).encode()
        self._connection.sendall(b"%d:%b" % (len(message), message))
        _, _, error, answer = self._read()
        assert error is None, error
        return answer

    def open(self, place: Path) -> None:
        self.ask("WebDriver:Navigate", {"url": place.as_uri()})

    def run(self, script: str) -> Any:
        return self.ask("WebDriver:ExecuteScript", {"script": script, "args": []})["value"]

    def wait(self, script: str, seconds: float = 60) -> None:
        """Wait until a script returns True."""
        end = time.monotonic() + seconds
        while self.run(script) is not True:
            assert time.monotonic() < end, f"{script} never gave True"
            time.sleep(0.1)

    def _read(self) -> Any:
        while b":" not in self._unread:
            self._receive()
        length, _, self._unread = self._unread.partition(b":")
        while len(self._unread) < int(length):
            self._receive()
        message, self._unread = self._unread[: int(length)], self._unread[int(length) :]
        return json.loads(message)

    def _receive(self) -> None:
        piece = self._connection.recv(65536)
        assert piece, "Firefox has closed the connection"
        self._unread += piece


@contextmanager
def firefox_or_skip(profile: Path) -> Iterator[Firefox]:
    """Start Firefox with an empty profile; skip the test where it is not installed."""
    if (program := next(filter(None, map(shutil.which, FIREFOXES)), None)) is None:
        pytest.skip("Firefox tests not run: there is no Firefox here (on Debian: apt-get install firefox-esr)")
    port = _free_port()
    profile.mkdir()
    (profile / "user.js").write_text(f'user_pref("marionette.port", {port});\n')
    command = [program, "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
    environment = os.environ | {"HOME": str(profile), "MOZ_DISABLE_CONTENT_SANDBOX": "1"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with _connect(port) as connection:
            yield Firefox(connection)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _connect(port: int) -> socket.socket:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=_PATIENCE)
        except ConnectionRefusedError:
            assert time.monotonic() < end, "Firefox does not answer"
            time.sleep(0.2)

"""Several server processes on one port: counts are summed, dead ones replaced, and all end together."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from multiprocessing import Pipe
from pathlib import Path

import pytest
from loopback import WAIT, until

from regard.base.doors import Limits
from regard.base.processes import is_stopped
from regard.cli import main
from regard.serving.options import ServingOptions
from regard.serving.processes import Serving, _Server, _Servers
from regard.serving.shared_metrics import SharedMetrics, add_up, set_aside

ONE = """\
# HELP regard_requests_total Requests.
# TYPE regard_requests_total counter
regard_requests_total{path="/a"} 3.0
# HELP regard_requests_created Requests.
# TYPE regard_requests_created gauge
regard_requests_created{path="/a"} 100.0
# HELP regard_open Open.
# TYPE regard_open gauge
regard_open 1.0
# HELP regard_version Version.
# TYPE regard_version gauge
regard_version{version="1"} 1.0
"""
OTHER = ONE.replace("3.0", "4.0").replace("100.0", "90.0").replace('path="/a"} 4', 'path="/b"} 4')


def test_counts_of_processes_are_added_up() -> None:
    both = add_up([ONE, OTHER, ONE]).decode().splitlines()
    values = [line for line in both if not line.startswith("#")]
    assert values == [
        'regard_requests_total{path="/a"} 6.0',
        'regard_requests_total{path="/b"} 4.0',
        'regard_requests_created{path="/a"} 90.0',  # the very first
        "regard_open 3.0",
        'regard_version{version="1"} 1.0',
    ]


def test_what_a_dead_process_counted_still_counts(tmp_path: Path) -> None:
    """Its memory and open requests do not."""
    (tmp_path / "1").write_text(ONE.replace("regard_open", "regard_requests_open"))
    counts = SharedMetrics(tmp_path)

    def values() -> set[str]:
        names = ('regard_requests_total{path="/a"}', "regard_requests_open")
        return {line for line in counts.text().decode().splitlines() if line.startswith(names)}

    assert values() == {'regard_requests_total{path="/a"} 3.0', "regard_requests_open 1.0"}
    set_aside(tmp_path, 1)
    assert values() == {'regard_requests_total{path="/a"} 3.0', "regard_requests_open 0.0"}
    set_aside(tmp_path, 2)  # it died before it counted anything


def test_what_may_wait_is_divided() -> None:
    options = ServingOptions(limits=Limits(waiting=10, connections=20, requests=60))
    limits = Serving([], "auto", options, quiet=True).shared_by(4).options.limits
    assert (limits.waiting, limits.connections, limits.requests) == (3, 8, 60)  # never less than 8 connections


def test_a_folder_that_is_no_model_is_refused_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", str(tmp_path / "none"), "--port", "0", "--processes", "2"]) == 2
    message = capfd.readouterr().err
    assert message.count("There is no model folder") == 1
    assert "Traceback" not in message


def servers_of(process: int) -> list[int]:
    children = map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())
    return [child for child in children if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


def test_a_process_that_stays_stopped_is_killed(tmp_path: Path) -> None:
    remarks: list[str] = []
    with socket.socket() as listening, subprocess.Popen(["sleep", "60"]) as process:
        servers = _Servers(Serving([], "auto", ServingOptions(), quiet=True), 1, listening, tmp_path, remarks.append)
        ours, theirs = Pipe()
        with ours, theirs:
            servers.running[ours] = _Server(0, process, ours)
            servers.kill_stopped()
            process.send_signal(signal.SIGSTOP)
            until(lambda: is_stopped(process.pid))
            servers.kill_stopped()
            assert (process.poll(), remarks) == (None, [])  # it may continue in a moment
            servers.kill_stopped()
            assert process.wait(WAIT) == -signal.SIGKILL
    assert remarks == [f"the server process {process.pid} was stopped (SIGSTOP) and is killed."]


@pytest.mark.long
def test_two_processes_serve_one_port_and_one_that_dies_is_replaced(forth: Path) -> None:
    command = [sys.executable, "-m", "regard", "serve", str(forth), "--port", "0", "--quiet", "--processes", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            address = process.stderr.readline().split()[-1]

            def read(path: str, body: bytes | None = None) -> str:
                with urllib.request.urlopen(f"{address}{path}", body, timeout=WAIT) as answer:
                    return answer.read().decode()

            body = b"q=I+love+books.&source=en&target=pt"
            answers = {json.loads(read("/translate", body))["translatedText"] for _ in range(6)}
            assert len(answers) == 1
            until(lambda: 'regard_requests_total{method="POST",path="/translate",status="200"} 6.0' in read("/metrics"))
            first, second = servers_of(process.pid)
            os.kill(first, signal.SIGKILL)
            message = process.stderr.readline()
            assert message == f"regard: the server process {first} was killed by SIGKILL and is started again.\n"
            assert json.loads(read("/translate", body))["translatedText"] in answers
            assert second in servers_of(process.pid)
            os.kill(second, signal.SIGSTOP)
            assert (
                process.stderr.readline()
                == f"regard: the server process {second} was stopped (SIGSTOP) and is killed.\n"
            )
            assert f"{second} was killed by SIGKILL and is started again" in process.stderr.readline()
            assert json.loads(read("/translate", body))["translatedText"] in answers
            os.kill(servers_of(process.pid)[0], signal.SIGSTOP)  # which does not prevent the end
            process.send_signal(signal.SIGTERM)
            _, rest = process.communicate(timeout=WAIT)
        finally:
            process.kill()
    assert (process.returncode, rest) == (0, "")

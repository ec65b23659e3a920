"""`regard serve`: its refusals, its output, and how it ends."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from loopback import WAIT, until
from pydantic import ValidationError

from regard.base.faults import Fault
from regard.base.recipe import check
from regard.cli import main
from regard.data.tokenisers.symbols import NAMES
from regard.engines.exported import CTRANSLATE2, RECORD, SHORTLIST, origins, write_record
from regard.engines.shortlist import Shortlist
from regard.serving.app import make_app
from regard.serving.http.server import address_of, bind
from regard.serving.options import ServingOptions
from regard.training.checkpoint import read_folder


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert main(["serve", *arguments]) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_beyond_this_machine_a_key_or_a_word_is_needed(capsys: pytest.CaptureFixture[str], host: str) -> None:
    sentence = refused(capsys, "model", "--host", host)
    assert f"At {host} other machines can reach the server" in sentence
    assert "--key-file" in sentence
    assert "--public" in sentence


def test_options_that_contradict_each_other_are_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = tmp_path / "key"
    assert "cannot be read" in refused(capsys, "model", "--key-file", str(key))
    key.write_text("\n", encoding="utf-8")
    assert "is empty" in refused(capsys, "model", "--key-file", str(key))
    key.write_text("long enough\n", encoding="utf-8")
    assert "give one of the two" in refused(capsys, "model", "--key-file", str(key), "--public")


def test_a_key_is_never_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "key"
    file.write_text("hunter2\n", encoding="utf-8")
    assert refused(capsys, "model", "--key-file", str(file)) == (
        f"regard: The key in the file {file} is too short; a key has at least 8 characters.\n"
    )
    monkeypatch.setenv("REGARD_API_KEY", "hunter2")
    assert refused(capsys, "model") == (
        "regard: The key in the variable REGARD_API_KEY is too short; a key has at least 8 characters.\n"
    )
    assert "hunter2" not in refused(capsys, "model", "--set", "access.key=hunter2")
    monkeypatch.setenv("REGARD_API_KEY", "hunter2-hunter2")
    monkeypatch.setenv("REGARD_TRACEBACK", "1")
    assert "hunter2" not in refused(capsys, "model", "--public")
    assert "hunter2" not in refused(capsys, "model", "--port", "0")  # not a model
    monkeypatch.setattr("regard.serving.app.open_models", lambda *arguments: 1 / 0)
    assert main(["serve", "model", "--port", "0"]) == 1
    traceback = capsys.readouterr().err
    assert "ZeroDivisionError" in traceback
    assert "hunter2" not in traceback
    assert main(["serve", "--help"]) == 0
    assert "hunter2" not in "".join(capsys.readouterr())


@pytest.mark.parametrize("key", ["hunter2", 1234567, ["hunter2"]])
def test_options_hide_the_key_in_whatever_they_print(key: object) -> None:
    shown = "1234567" if key == 1234567 else "hunter2"
    with pytest.raises(Fault, match=r"access\.key") as fault:
        check(ServingOptions, {"access": {"key": key}}, "the server")
    assert shown not in str(fault.value)
    with pytest.raises(ValidationError, match=r"access\.key") as invalid:
        ServingOptions.model_validate({"access": {"key": key}})
    assert shown not in str(invalid.value)
    options = check(ServingOptions, {"access": {"key": "hunter2-hunter2"}}, "the server")
    assert "hunter2" not in f"{options} {options!r} {options.model_dump()} {options.model_dump_json()}"
    assert options.access.key is not None
    assert options.access.key.get_secret_value() == "hunter2-hunter2"


@pytest.mark.parametrize("origin", ["https://example.org/", "example.org", "https://a b", ""])
def test_an_origin_that_no_browser_would_send_is_refused(capsys: pytest.CaptureFixture[str], origin: str) -> None:
    assert "expected only a scheme and a host" in refused(capsys, "model", "--allow-origin", origin)


def test_settings_are_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert "limits has no 'beem'; did you mean 'beam'?" in refused(capsys, "model", "--set", "limits.beem=3")
    assert "Access is set with" in refused(capsys, "model", "--set", "access.key=anyone")
    assert "limits holds several settings" in refused(capsys, "model", "--set", "limits=3")
    assert "limits.beam is 100, expected 64 or less" in refused(capsys, "model", "--set", "limits.beam=100")


def test_a_folder_that_is_no_model_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "There is no model folder" in refused(capsys, str(tmp_path / "none"), "--port", "0")


def test_a_port_that_is_taken_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = str(other.getsockname()[1])
        assert f"The server cannot listen on 127.0.0.1, port {port}" in refused(capsys, "model", "--port", port)
    assert "The server cannot listen on no.such.host.invalid" in refused(
        capsys, "model", "--host", "no.such.host.invalid", "--public"
    )


def test_the_application_is_there_before_torch_is() -> None:
    program = "import sys, regard.serving.app, regard.serving.http.server; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_address_is_written_as_browsers_take_it() -> None:
    for host, expected in (("127.0.0.1", "http://127.0.0.1:"), ("localhost", "http://")):
        with bind(host, 0) as listening:
            assert address_of(listening).startswith(expected)
            assert listening.proto == socket.IPPROTO_TCP  # otherwise each answer would wait 40 ms for a full packet


@contextmanager
def served(*arguments: str, files: int | None = None) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Run the real command with this limit of open files. Yield the address that it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "REGARD_API_KEY"}
    command = [sys.executable, "-m", "regard", "serve", *arguments, "--port", "0"]
    if files is not None:
        bounded = f"resource.setrlimit(resource.RLIMIT_NOFILE, ({files}, {files}))"
        command[1:3] = ["-c", f"import resource, runpy; {bounded}; runpy.run_module('regard', alter_sys=True)"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith("regard: serving on http://127.0.0.1:"), line
            yield process, line.split()[-1]
        finally:
            process.kill()


def is_listening(host: str, port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("end", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_serves_on_loopback_and_ends_when_it_has_finished(forth: Path, end: signal.Signals, status: int) -> None:
    """The interim answer to `Expect` confirms acceptance; the body arrives when no one else can connect."""
    body = b"q=I+love+books.&source=en&target=pt"
    with served(str(forth), "--requests", "2") as (process, address):
        with urllib.request.urlopen(f"{address}/translate", body) as answer:
            translation = json.load(answer)
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=WAIT) as connection:
            head = f"POST /translate HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n"
            connection.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 100")
            with pytest.raises(urllib.error.HTTPError, match="429") as refusal:
                urllib.request.urlopen(f"{address}/languages")
            refusal.value.close()
            process.send_signal(end)
            until(lambda: not is_listening(host, int(port)))
            assert process.poll() is None
            connection.sendall(body)
            received = b"".join(iter(lambda: connection.recv(4096), b""))
        assert received.startswith(b"HTTP/1.1 200")
        assert json.loads(received.partition(b"\r\n\r\n")[2]) == translation
        _, rest = process.communicate(timeout=WAIT)
    assert process.returncode == status
    assert '"path": "/translate"' in rest
    assert "Traceback" not in rest
    assert "books" not in rest


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("first", "second"),
    [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT)],
)
def test_a_second_signal_waits_for_nobody(forth: Path, first: signal.Signals, second: signal.Signals) -> None:
    with served(str(forth), "--quiet") as (process, address):
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=WAIT) as connection:
            head = f"POST /translate HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n"
            connection.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 100")
            process.send_signal(first)
            until(lambda: not is_listening(host, int(port)))
            assert process.poll() is None
            process.send_signal(second)
            _, rest = process.communicate(timeout=WAIT)
    assert process.returncode == 128 + second
    assert rest == "regard: stopped.\n"


@pytest.mark.parametrize("files", [40, 128])
def test_more_connections_than_there_are_files_for_keep_nobody_out(forth: Path, files: int) -> None:
    """The longest idle ones are closed, which is reported once; an answer that has begun is finished."""
    with served(str(forth), "--quiet", files=files) as (process, address):
        host, port = address.removeprefix("http://").split(":")
        with ExitStack() as idle:
            asking = idle.enter_context(socket.create_connection((host, int(port)), timeout=WAIT))
            asking.sendall(b"GET /languages HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert asking.recv(100).startswith(b"HTTP/1.1 200")
            process.send_signal(signal.SIGSTOP)  # as on a busy machine: all are there when it accepts the first
            oldest, *_ = [idle.enter_context(socket.create_connection((host, int(port)), WAIT)) for _ in range(200)]
            process.send_signal(signal.SIGCONT)
            with urllib.request.urlopen(f"{address}/health", timeout=WAIT) as answer:
                assert json.load(answer) == {"status": "ok"}
            assert oldest.recv(1) == b""
        process.send_signal(signal.SIGTERM)
        _, rest = process.communicate(timeout=WAIT)
    assert rest.splitlines() == [f"regard: all {files // 2} connections are in use; those idle for longest are closed."]


def test_a_shortlist_that_sentences_share_is_told_of(forth: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(forth, tmp_path / "listed")
    export, files = folder / CTRANSLATE2, read_folder(folder)
    (export / RECORD).unlink()
    (export / SHORTLIST).write_text(Shortlist([0, 1, 2, 3], {}).text([], NAMES), encoding="utf-8")
    write_record(export, "float32", origins(files))
    remarks: list[str] = []
    make_app([forth, folder], warn=remarks.append)
    assert remarks == [
        "listed has a shortlist, which the sentences of a batch share, so an answer occasionally depends on other "
        "requests at the same time."
    ]

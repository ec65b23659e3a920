"""Download one file over HTTP: resume it, retry after temporary errors, and never accept more bytes than expected.

pooch, the usual library for this, does none of the three.
"""

import http.client
import ipaddress
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPRedirectHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
    UnknownHandler,
)

PAUSES = (1.0, 2.0, 4.0)  # seconds before each retry
_TIMEOUT = 30.0  # seconds without a byte
_CHUNK = 1 << 18
_PASSING = {408, 425, 429, 500, 502, 503, 504}


class DownloadFailed(Exception):
    """The reason why a download failed, as a clause that names the address or its host."""


class _Passing(Exception):
    """A temporary error, worth a retry."""


def download(address: str, part: Path, limit: int, report: Callable[[int, int | None], None]) -> None:
    """Download `address` into the file `part`, continuing where that file ends.

    `report` receives the number of bytes so far and the total, if the server gives it. When the download is
    interrupted, also by Ctrl-C, `part` keeps what has arrived and the next call continues from there.
    """
    if urlsplit(address).scheme not in ("http", "https"):
        raise DownloadFailed(f"{address} is neither an http nor an https address")
    transfer = _Transfer(address, part, limit, report)
    for pause in PAUSES:
        with suppress(_Passing):
            transfer.go_on()
            return
        time.sleep(pause)
    try:
        transfer.go_on()
    except _Passing as trouble:
        raise DownloadFailed(f"{trouble}, at the last of {len(PAUSES) + 1} tries") from None


@dataclass(frozen=True)
class _Transfer:
    address: str
    part: Path
    limit: int
    report: Callable[[int, int | None], None]

    def go_on(self) -> None:
        """Try once to get what is missing."""
        have = self.part.stat().st_size if self.part.exists() else 0
        try:
            response = _ask(self.address, have)
        except HTTPError as error:
            with error:
                self._settle(error, have)
                return
        with response:
            self._receive(response, self._start(response, have))

    def _settle(self, error: HTTPError, have: int) -> None:
        """Handle an error response; 416 at the end of our file means that it is complete."""
        if error.code == 416 and have:
            if error.headers.get("Content-Range") != f"bytes */{have}":
                self._start_afresh("is shorter than the part that had arrived")
            return
        kind = _Passing if error.code in _PASSING else DownloadFailed
        raise kind(f"{self.address} answered {error.code} {error.reason}".rstrip()) from None

    def _start(self, response: http.client.HTTPResponse, have: int) -> int:
        """Return the byte at which the server begins: the missing part, or 0 if it cannot send part of a file."""
        if response.status != 206:
            return 0
        if not response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            self._start_afresh("sent a different part than requested")
        return have

    def _receive(self, response: http.client.HTTPResponse, done: int) -> None:
        length = response.headers.get("Content-Length", "")
        whole = done + int(length) if length.isdecimal() else None
        with self.part.open("ab" if done else "wb") as file:
            self.report(done, whole)
            while piece := self._read(response, done):
                done += len(piece)
                if done > self.limit:
                    self.part.unlink()
                    raise DownloadFailed(f"{self.address} sends more than the {self.limit:,} bytes expected")
                file.write(piece)
                self.report(done, whole)
        if whole is not None and done < whole:
            raise _Passing(f"{self.address} broke off after {done:,} of {whole:,} bytes")

    def _read(self, response: http.client.HTTPResponse, done: int) -> bytes:
        try:
            return response.read1(_CHUNK)
        except (OSError, http.client.HTTPException) as error:
            raise _Passing(f"{self.address} broke off after {done:,} bytes ({error})") from None

    def _start_afresh(self, because: str) -> None:
        self.part.unlink(missing_ok=True)
        raise _Passing(f"{self.address} {because}")


def _ask(address: str, have: int) -> http.client.HTTPResponse:
    """Request everything after the first `have` bytes; tell an unreachable host from a temporary error."""
    headers = {"User-Agent": "regard"}
    if have:
        headers["Range"] = f"bytes={have}-"
    host = urlsplit(address).netloc
    try:
        response = _opener().open(Request(address, headers=headers), timeout=_TIMEOUT)
    except HTTPError:
        raise
    except URLError as error:
        reason = error.reason
        words = (reason.strerror if isinstance(reason, OSError) else None) or str(reason)
        kind = _Passing if isinstance(reason, TimeoutError | ConnectionResetError) else DownloadFailed
        raise kind(f"{host} cannot be reached ({words})") from None
    except (OSError, http.client.HTTPException) as error:
        raise _Passing(f"{host} gave no answer ({error})") from None
    assert isinstance(response, http.client.HTTPResponse)
    return response


class _Redirections(HTTPRedirectHandler):
    """Follow a few redirections, never to a less safe address.

    From https, follow only to https. From one host to another, follow only to public addresses, so that no outside
    server can reach this machine or its network through us. The name is looked up here and again on connecting, so an
    answer that changes in between is not caught.
    """

    max_redirections = 5

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: http.client.HTTPMessage, newurl: str
    ) -> Request | None:
        before, after = urlsplit(req.full_url), urlsplit(newurl)
        obstacle = None
        if after.scheme != "https" and after.scheme != before.scheme:
            obstacle = "which is less safe"
        elif after.hostname != before.hostname and not _is_public(after.hostname or ""):
            obstacle = "which is not a public host"
        if obstacle:
            fp.close()
            # Omit query and user: they may hold a signature or a password.
            place = f"{after.scheme}://{after.netloc.rpartition('@')[2]}{after.path}"
            raise DownloadFailed(f"{before.netloc} redirects to {place}, {obstacle}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _is_public(host: str) -> bool:
    """Return True if all addresses of a host are public; leave names that only a proxy knows to the proxy."""
    try:
        records = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return bool(host)
    addresses = (ipaddress.ip_address(str(place[0]).partition("%")[0]) for *_, place in records)
    return all((getattr(address, "ipv4_mapped", None) or address).is_global for address in addresses)


def _opener() -> OpenerDirector:
    """Return an opener for http and https only."""
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),
        HTTPHandler(),
        HTTPSHandler(),
        _Redirections(),
        HTTPDefaultErrorHandler(),
        HTTPErrorProcessor(),
        UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener

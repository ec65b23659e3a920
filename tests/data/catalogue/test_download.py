"""Downloading sets over HTTP from a loopback server: whole, cut off, resumed, forged, unreachable."""

import gzip
import hashlib
import json
import socket
from collections.abc import Callable, Iterator
from functools import partial
from http.client import HTTPMessage
from io import BytesIO
from pathlib import Path
from urllib.request import Request

import pytest
from toy_sets import TEXT, Server, a_file, archive_of, catalogue_of, contents, fault_of, serving, sounds_file

from regard.base.faults import Fault
from regard.base.progress import silent
from regard.data.catalogue.download import DownloadFailed, _Redirections
from regard.data.catalogue.entries import Entry
from regard.data.catalogue.get import get, lacking


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr("regard.data.catalogue.download.PAUSES", (0.0, 0.0, 0.0))
    with serving(Server(content={"/a.txt": TEXT})) as state:
        yield state


@pytest.fixture
def declare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Entry]:
    """Declare a catalogue with one set, `toy`, of these files, and an empty data folder."""
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "data"))
    return partial(catalogue_of, monkeypatch)


# --- downloads that succeed


def test_a_whole_download_is_verified_recorded_and_reported_in_bytes(server, declare):
    entry = declare(a_file("raw/a.txt", TEXT, address=f"{server.address}/a.txt"))
    reports: list[tuple[str, int, int | None]] = []
    assert get("toy", None, lambda *report: reports.append(report)) == entry.folder
    assert contents(entry.folder) == {"raw/a.txt": TEXT}
    assert reports[0] == ("toy: bytes of a.txt", 0, len(TEXT))
    assert reports[-1] == ("toy: bytes of a.txt", len(TEXT), len(TEXT))
    record = json.loads((entry.folder / ".regard.json").read_text())
    assert record == {"written": {"raw/a.txt": hashlib.sha256(TEXT).hexdigest()}}


def test_a_packed_file_stays_packed_and_its_checksum_is_of_the_content(server, declare):
    server.content = {"/a.txt.gz": gzip.compress(TEXT), "/b.txt": b"plain\n"}
    entry = declare(
        a_file("a.txt.gz", TEXT, address=f"{server.address}/a.txt.gz"),
        a_file("b.txt.gz", b"plain\n", address=f"{server.address}/b.txt"),
    )
    get("toy", None, silent)
    assert set(contents(entry.folder)) == {"a.txt.gz", "b.txt"}
    assert lacking(entry) == []


def test_what_is_here_is_not_asked_for_again(server, declare):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    get("toy", None, silent)
    before = {path: path.stat().st_mtime_ns for path in entry.folder.rglob("*")}
    get("playthings", None, silent)
    assert len(server.asked) == 1
    assert {path: path.stat().st_mtime_ns for path in entry.folder.rglob("*")} == before


def test_an_answer_that_breaks_off_is_resumed(server, declare):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    server.cut_after = [300_000, 200_000]
    get("toy", None, silent)
    assert contents(entry.folder) == {"a.txt": TEXT}
    assert server.asked == [("/a.txt", None), ("/a.txt", "bytes=300000-"), ("/a.txt", "bytes=500000-")]


def test_a_server_without_ranges_starts_again(server, declare):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    server.cut_after, server.knows_ranges = [300_000], False
    get("toy", None, silent)
    assert contents(entry.folder) == {"a.txt": TEXT}
    assert len(server.asked) == 2


def test_a_server_that_sends_another_piece_is_not_believed(server, declare):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    server.cut_after, server.lies_about_range = [300_000], True
    get("toy", None, silent)
    assert contents(entry.folder) == {"a.txt": TEXT}
    assert [wish for _, wish in server.asked] == [None, "bytes=300000-", None]


def test_ctrl_c_leaves_what_arrived_and_the_next_call_goes_on(server, declare):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))

    def press_ctrl_c(what: str, done: int, total: int | None) -> None:
        if done > len(TEXT) // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        get("toy", None, press_ctrl_c)
    arrived = (entry.folder / ".incoming/a.txt.part").read_bytes()
    assert len(arrived) > len(TEXT) // 2
    assert arrived == TEXT[: len(arrived)]
    get("toy", None, silent)
    assert server.asked[-1] == ("/a.txt", f"bytes={len(arrived)}-")
    assert contents(entry.folder) == {"a.txt": TEXT}


@pytest.mark.parametrize("left", [TEXT, TEXT + b"and more"], ids=["all of it", "more than there is"])
def test_a_part_with_nothing_missing_is_settled(server, declare, left):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    part = entry.folder / ".incoming/a.txt.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(left)
    get("toy", None, silent)
    assert contents(entry.folder) == {"a.txt": TEXT}


def test_a_file_that_arrived_before_an_earlier_call_failed_is_kept(server, declare):
    server.content["/b.txt"] = b"b\n"
    good = a_file("a.txt", TEXT, address=f"{server.address}/a.txt")
    declare(good, a_file("b.txt", b"b\n", address=f"{server.address}/nowhere"))
    with pytest.raises(Fault):
        get("toy", None, silent)
    entry = declare(good, a_file("b.txt", b"b\n", address=f"{server.address}/b.txt"))
    get("toy", None, silent)
    assert [path for path, _ in server.asked] == ["/a.txt", "/nowhere", "/b.txt"]
    assert set(contents(entry.folder)) == {"a.txt", "b.txt"}


def test_a_folder_is_unpacked_from_the_archive_of_a_repository(server, declare):
    server.content["/1a2b.tar.gz"] = archive_of(("toys-1a2b/README", b"hi"), ("toys-1a2b/sounds/one.wav", b"beep"))
    entry = declare(sounds_file(address=f"{server.address}/1a2b.tar.gz"))
    get("toy", None, silent)
    assert contents(entry.folder) == {"sounds/one.wav": b"beep"}
    assert lacking(entry) == []


def test_a_derived_set_is_made_of_its_public_parts(server, declare):
    first = b"eng\tpor\tBooks.\tLivros.\neng\tpor\tA cat.\tUm gato.\neng\tpor\tBooks.\tLivros.\n"
    second = "eng\tpor\tYes!\tSim!\neng\tpor\tA cat.\tUm gato.\neng\tpor\tOk.\tEstá bem.\n".encode()
    test = "eng\tpor\tYes!\tClaro!\neng\tpor\tAll right.\tEstá bem.\n".encode()
    expected = b"Books.\tLivros.\nA cat.\tUm gato.\n"
    server.content = {"/1.txt.gz": gzip.compress(first), "/2.txt": second, "/test.txt": test}
    parts = [
        {"address": f"{server.address}/{name}", "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in {"1.txt.gz": first, "2.txt": second, "test.txt": test}.items()
    ]
    entry = declare(a_file("train.tsv.gz", expected, derived="Joined.", parts=parts[:2], unseen_in=parts[2]))
    get("toy", None, silent)
    assert contents(entry.folder) == {"train.tsv": expected}


# --- downloads that fail


def test_a_bad_checksum_names_the_file_and_both_sums_and_leaves_nothing(server, declare):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    server.content["/a.txt"] = forged = b"X" + TEXT[1:]
    sentence = fault_of(lambda: get("toy", None, silent))
    assert "a.txt has the checksum" in sentence
    assert hashlib.sha256(forged).hexdigest() in sentence
    assert hashlib.sha256(TEXT).hexdigest() in sentence
    assert not entry.folder.exists()


def test_a_damaged_file_is_called_so(server, declare):
    server.content["/a.txt.gz"] = gzip.compress(TEXT)[:-9]
    entry = declare(a_file("a.txt.gz", TEXT, address=f"{server.address}/a.txt.gz"))
    assert "a.txt.gz cannot be used for toy: it is damaged" in fault_of(lambda: get("toy", None, silent))
    assert not entry.folder.exists()


def test_an_archive_that_leads_out_is_refused(server, declare, tmp_path):
    server.content["/s.tar.gz"] = archive_of(("sounds/../../../evil", b"beep"))
    declare(sounds_file(address=f"{server.address}/s.tar.gz"))
    assert "holds 'sounds/../../../evil', which leads out" in fault_of(lambda: get("toy", None, silent))
    assert contents(tmp_path) == {}


def test_a_missing_page_is_told_at_once_with_the_source_and_the_way_out(server, declare):
    declare(a_file("a.txt", TEXT, address=f"{server.address}/gone.txt"))
    sentence = fault_of(lambda: get("toy", None, silent))
    assert "The data set toy could not be downloaded" in sentence
    assert "/gone.txt answered 404 Not Found" in sentence
    assert "its source is https://toys.example" in sentence
    assert "`regard data get toy --from DIR`" in sentence
    assert len(server.asked) == 1


def test_a_server_in_trouble_is_tried_four_times(server, declare):
    declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    server.status = 503
    assert "answered 503 Service Unavailable, at the last of 4 tries" in fault_of(lambda: get("toy", None, silent))
    assert len(server.asked) == 4


def test_a_server_that_always_breaks_off_is_given_up_and_what_arrived_is_kept(server, declare):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    server.cut_after = [1000, 1000, 1000, 1000]
    assert "broke off after 4,000 of 768,890 bytes" in fault_of(lambda: get("toy", None, silent))
    assert (entry.folder / ".incoming/a.txt.part").read_bytes() == TEXT[:4000]


def test_without_a_network_one_sentence_says_what_to_do(declare, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    entry = declare(a_file("a.txt", TEXT, address=f"http://127.0.0.1:{port}/a.txt"))
    assert fault_of(lambda: get("toy", None, silent)) == (
        f"The data set toy could not be downloaded: 127.0.0.1:{port} cannot be reached (Connection refused); "
        "its source is https://toys.example, and `regard data get toy --from DIR` takes it from a folder that holds "
        "the files already."
    )
    assert not entry.folder.exists()


def test_more_than_promised_is_not_taken(server, declare):
    entry = declare(a_file("a.txt", TEXT[:10], address=f"{server.address}/a.txt"))
    server.content["/a.txt"] = TEXT * 4
    assert "sends more than the 1,048,596 bytes expected" in fault_of(lambda: get("toy", None, silent))
    assert not entry.folder.exists()


@pytest.mark.parametrize("address", ["file:///etc/passwd", "ftp://127.0.0.1/a.txt", "a.txt"])
def test_only_http_is_spoken(declare, address):
    declare(a_file("a.txt", TEXT, address=address))
    assert f"{address} is neither an http nor an https address" in fault_of(lambda: get("toy", None, silent))


@pytest.mark.parametrize("elsewhere", ["file:///etc/passwd", "ftp://127.0.0.1:1/a.txt"])
def test_no_redirection_leads_away_from_http(server, declare, elsewhere):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    server.redirect = elsewhere
    assert "could not be downloaded" in fault_of(lambda: get("toy", None, silent))
    assert not entry.folder.exists()


def test_a_redirection_to_the_same_host_is_followed(server, declare):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    server.content, server.redirect = {"/b.txt": TEXT}, "/b.txt"
    get("toy", None, silent)
    assert contents(entry.folder) == {"a.txt": TEXT}


@pytest.mark.parametrize(
    "host", ["localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254", "[fe80::1]"]
)
def test_no_redirection_leads_to_another_host_that_is_not_public(server, declare, host):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    server.redirect = f"http://{host}:{server.address.rpartition(':')[2]}/b.txt"
    server.content["/b.txt"] = TEXT
    assert f"redirects to {server.redirect}, which is not a public host" in fault_of(lambda: get("toy", None, silent))
    assert [path for path, _ in server.asked] == ["/a.txt"]
    assert not entry.folder.exists()


def test_no_redirection_leads_from_https_to_http():
    def follow(address: str) -> Request | None:
        before = Request("https://1.1.1.1/a.txt")
        return _Redirections().redirect_request(before, BytesIO(), 302, "Found", HTTPMessage(), address)

    assert follow("https://1.0.0.1/a.txt") is not None
    for address in ("http://1.1.1.1/a.txt", "http://1.0.0.1/a.txt"):
        with pytest.raises(DownloadFailed, match=f"1.1.1.1 redirects to {address}, which is less safe"):
            follow(address)


def test_a_refused_redirection_shows_no_signature_and_no_password():
    before, address = Request("https://1.1.1.1/a.txt"), "http://ana:hunter2@1.0.0.1/b.txt?signature=hunter2#hunter2"
    with pytest.raises(DownloadFailed, match=r"redirects to http://1\.0\.0\.1/b\.txt, which is less safe$"):
        _Redirections().redirect_request(before, BytesIO(), 302, "Found", HTTPMessage(), address)


def test_five_redirections_are_enough(server, declare):
    declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    server.redirect = "again/"  # to /again/, then to /again/again/ and so on
    assert "answered 302" in fault_of(lambda: get("toy", None, silent))
    assert len(server.asked) == 1 + 5


def test_nothing_of_an_archive_is_written_before_it_is_verified(server, declare, monkeypatch):
    server.content = {"/sounds.tar.gz": archive_of(("sounds/a.wav", b"not what was promised"))}
    entry = declare(sounds_file(address=f"{server.address}/sounds.tar.gz"))
    monkeypatch.setattr("regard.data.catalogue.fetching.unpack", lambda *arguments: pytest.fail("was unpacked"))
    assert "is not what the data catalogue promises" in fault_of(lambda: get("toy", None, silent))
    assert not entry.folder.exists()


def test_a_full_disk_is_told(server, declare):
    entry = declare(a_file("a.txt", TEXT, address=f"{server.address}/a.txt"))
    (entry.folder / ".incoming").mkdir(parents=True)
    (entry.folder / ".incoming/a.txt.part").symlink_to("/dev/full")
    sentence = fault_of(lambda: get("toy", None, silent))
    assert sentence.startswith(f"There is no space left in {entry.folder} for toy; free some")


def test_a_data_folder_that_cannot_be_is_told(declare, tmp_path):
    declare(a_file("a.txt", TEXT, address="http://127.0.0.1/a.txt"))
    (tmp_path / "data").write_text("a file")
    assert "set REGARD_DATA to another folder" in fault_of(lambda: get("toy", None, silent))


def test_what_has_no_public_address_is_refused_before_anything_is_downloaded(server, declare):
    entry = declare(
        a_file("a.txt", TEXT, address=f"{server.address}/a.txt"), a_file("b.npy", b"b", derived="By a network.")
    )
    sentence = fault_of(lambda: get("toy", None, silent))
    assert "b.npy of toy cannot be downloaded" in sentence
    assert "By a network." in sentence
    assert "https://toys.example" in sentence
    assert "`regard data get toy --from DIR`" in sentence
    assert server.asked == []
    assert not entry.folder.exists()

"""Archives from anywhere: the same contents in every format, and hostile ones write nothing outside."""

import gzip
import hashlib
import io
import lzma
import stat
import struct
import tarfile
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from regard.data.catalogue.unpack import Unusable, checksum, folder_checksum, unpack

LIMIT = 1 << 20
SOUNDS = {"b.wav": b"two", "a/ç.wav": b"one"}


def tar(path: Path, *members: tuple[tarfile.TarInfo, bytes], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:
        for member, content in members:
            archive.addfile(member, io.BytesIO(content))
    return path


def file_member(name: str, content: bytes) -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    return member, content


def special_member(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member, b""


def test_the_checksum_of_a_file_is_of_its_content(tmp_path):
    content = "Eu amo livros.\nЯ люблю книги.\n".encode()
    expected = hashlib.sha256(content).hexdigest()
    for name, packed in {"a": content, "a.gz": gzip.compress(content), "a.xz": lzma.compress(content)}.items():
        (tmp_path / name).write_bytes(packed)
        assert checksum(tmp_path / name, LIMIT) == expected


def test_a_content_that_never_ends_is_not_read_to_its_end(tmp_path):
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(bytes(3 * LIMIT)))
    with pytest.raises(Unusable, match="holds more than the 1,048,576 bytes expected"):
        checksum(tmp_path / "bomb.gz", LIMIT)


@pytest.mark.parametrize("name", ["a.gz", "a.xz"])
def test_a_damaged_file_is_called_so(tmp_path, name):
    whole = gzip.compress(b"some text") if name == "a.gz" else lzma.compress(b"some text")
    for damaged in (whole[:-5], b"not packed at all"):
        (tmp_path / name).write_bytes(damaged)
        with pytest.raises(Unusable, match="is damaged"):
            checksum(tmp_path / name, LIMIT)


def test_the_checksum_of_a_folder_is_that_of_sorted_lines_of_sha256sum(tmp_path):
    for name, content in SOUNDS.items():
        place = tmp_path / "sounds" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    lines = [f"{hashlib.sha256(SOUNDS[name]).hexdigest()}  {name}\n" for name in ("a/ç.wav", "b.wav")]
    assert folder_checksum(tmp_path / "sounds", LIMIT) == hashlib.sha256("".join(lines).encode()).hexdigest()


def archives(folder: Path) -> list[Path]:
    """Return the same sounds in four archives: alone, deep inside a repository among other files, plain, zipped."""
    (folder / "deep").mkdir()
    inside = [file_member(f"sounds/{name}", content) for name, content in SOUNDS.items()]
    deep = [file_member(f"repository-1a2b/sounds/{name}", content) for name, content in SOUNDS.items()]
    readme = file_member("repository-1a2b/README", b"hello")
    here = special_member("./", tarfile.DIRTYPE)
    with zipfile.ZipFile(folder / "sounds.zip", "w") as archive:
        archive.mkdir("sounds")
        for name, content in SOUNDS.items():
            archive.writestr(f"sounds/{name}", content)
    return [
        tar(folder / "sounds.tar.gz", here, *inside),
        tar(folder / "sounds.tar.xz", *reversed(inside), mode="w:xz"),
        tar(folder / "deep/sounds.tar", *deep, readme, mode="w"),
        folder / "sounds.zip",
    ]


def test_a_folder_has_one_checksum_whatever_archive_holds_it(tmp_path):
    unpack(archives(tmp_path)[0], tmp_path / "sounds", LIMIT)
    sums = {folder_checksum(path, LIMIT) for path in [tmp_path / "sounds", *tmp_path.rglob("sounds.*")]}
    assert len(sums) == 1


def test_unpacking_gives_the_files_and_nothing_else(tmp_path):
    for number, archive in enumerate(archives(tmp_path)):
        target = tmp_path / f"out{number}"
        unpack(archive, target, LIMIT)
        contents = {
            path.relative_to(target).as_posix(): path.read_bytes() for path in target.rglob("*") if path.is_file()
        }
        assert contents == SOUNDS


def test_a_folder_can_be_copied_the_same_way(tmp_path):
    unpack(archives(tmp_path)[0], tmp_path / "sounds", LIMIT)
    unpack(tmp_path / "sounds", tmp_path / "copy", LIMIT)
    assert folder_checksum(tmp_path / "copy", LIMIT) == folder_checksum(tmp_path / "sounds", LIMIT)


HOSTILE = {
    "absolute": ([file_member("/sounds/evil", b"x")], "leads out of its folder"),
    "dots": ([file_member("sounds/../../evil", b"x")], "leads out of its folder"),
    "dots in a folder": ([special_member("../sounds/", tarfile.DIRTYPE)], "leads out of its folder"),
    "link": ([special_member("sounds/evil", tarfile.SYMTYPE, "/etc/passwd")], "is a link or a device"),
    "hard link": ([special_member("sounds/evil", tarfile.LNKTYPE, "../../secret")], "is a link or a device"),
    "device": ([special_member("sounds/evil", tarfile.CHRTYPE)], "is a link or a device"),
    "pipe": ([special_member("sounds/evil", tarfile.FIFOTYPE)], "is a link or a device"),
    "link elsewhere": ([special_member("other/evil", tarfile.SYMTYPE, "x")], "is a link or a device"),
    "too large": ([file_member("sounds/a", bytes(LIMIT)), file_member("sounds/b", b"x")], "holds more than"),
    "twice": ([file_member("sounds/a", b"1"), file_member("sounds/a", b"2")], "holds 'a' twice"),
    "file and folder": ([file_member("sounds/a", b"1"), file_member("sounds/a/b", b"2")], "holds 'a/b' twice"),
}


@pytest.mark.parametrize(("members", "words"), HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_tar_is_refused_and_writes_nothing_outside(tmp_path, members, words):
    archive = tar(tmp_path / "sounds.tar.gz", *members)
    with pytest.raises(Unusable, match=words):
        unpack(archive, tmp_path / "deep/down/sounds", LIMIT)
    outside = {path.name for path in tmp_path.rglob("*") if not path.is_relative_to(tmp_path / "deep/down/sounds")}
    assert outside == {"sounds.tar.gz", "deep", "down"}


def zip_member(name: str, kind: int) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo(name)
    member.external_attr = (kind | 0o644) << 16
    return member


@pytest.mark.parametrize(
    ("member", "words"),
    [
        (zip_member("sounds/evil", stat.S_IFLNK), "is a link or a device"),
        (zip_member("sounds/evil", stat.S_IFCHR), "is a link or a device"),
        (zip_member("sounds/../../evil", stat.S_IFREG), "leads out of its folder"),
        (zip_member("/sounds/evil", stat.S_IFREG), "leads out of its folder"),
    ],
)
def test_a_hostile_zip_is_refused(tmp_path, member, words):
    with zipfile.ZipFile(tmp_path / "sounds.zip", "w") as archive:
        archive.writestr(member, "/etc/passwd")
    with pytest.raises(Unusable, match=words):
        unpack(tmp_path / "sounds.zip", tmp_path / "sounds", LIMIT)


def test_a_zip_that_swells_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "sounds.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("sounds/a", bytes(2 * LIMIT))
    assert (tmp_path / "sounds.zip").stat().st_size < LIMIT / 100
    with pytest.raises(Unusable, match="holds more than the 1,048,576 bytes"):
        unpack(tmp_path / "sounds.zip", tmp_path / "sounds", LIMIT)


@pytest.mark.parametrize("cut", [0.0, 0.5])
def test_a_damaged_archive_is_called_so(tmp_path, cut):
    archive = tar(tmp_path / "sounds.tar.gz", file_member("sounds/a", bytes(range(256)) * 50))
    whole = archive.read_bytes()
    archive.write_bytes(whole[: int(len(whole) * cut)] or b"no archive")
    with pytest.raises(Unusable, match="is damaged"):
        unpack(archive, tmp_path / "sounds", LIMIT)


@pytest.mark.parametrize(
    ("old", "new"), [(b"bytes to lose", b""), (b"sounds/lost", b"\0ounds/lost")], ids=["bytes", "name"]
)
def test_a_zip_that_lost_bytes_or_a_name_is_called_damaged(tmp_path, old, new):
    path = tmp_path / "sounds.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sounds/lost", "bytes to lose")
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(Unusable, match=r"is damaged|leads out"):
        unpack(path, tmp_path / "sounds", LIMIT)


def test_a_link_in_an_unpacked_folder_is_refused(tmp_path):
    (tmp_path / "sounds").mkdir()
    (tmp_path / "sounds/evil").symlink_to("/etc/passwd")
    with pytest.raises(Unusable, match="holds 'evil', which is neither a file nor a folder"):
        folder_checksum(tmp_path / "sounds", LIMIT)


def header(kind: bytes, size: int) -> bytes:
    """Return a handmade tar header that announces this many bytes of its own."""
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = kind, size
    return member.tobuf(tarfile.USTAR_FORMAT)


def header_of_holes() -> bytes:
    """Return the header of a sparse file that announces a further list of holes."""
    block = bytearray(header(tarfile.GNUTYPE_SPARSE, 0))
    block[386:495] = b"00000000001\0" * 8 + b"\1" + b"00000000001\0"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


HUGE = 1 << 25
HEADERS = {
    "a long name": header(tarfile.GNUTYPE_LONGNAME, HUGE) + b"a" * HUGE,
    "a long link": header(tarfile.GNUTYPE_LONGLINK, HUGE) + b"a" * HUGE,
    "attributes": header(tarfile.XHDTYPE, HUGE) + f"{HUGE} path=".encode().ljust(HUGE, b"a"),
    "attributes of all": header(tarfile.XGLTYPE, HUGE) + f"{HUGE} comment=".encode().ljust(HUGE, b"a"),
    "one after another": (header(tarfile.GNUTYPE_LONGNAME, 512) + b"a" * 512) * (HUGE // 1024),
    "holes": header_of_holes() + (b"00000000001\0" * 42 + b"\1").ljust(512, b"\0") * (HUGE // 512),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", HEADERS)
def test_headers_of_any_size_take_little_memory(tmp_path, kind, packed):
    path, content = tmp_path / "sounds.tar", HEADERS[kind] + bytes(1024)
    path.write_bytes(gzip.compress(content, 1) if packed else content)
    tracemalloc.start()
    try:
        with pytest.raises(Unusable, match=r"the description of its members is too large|is damaged"):
            unpack(path, tmp_path / "out", 1 << 40)
        assert tracemalloc.get_traced_memory()[1] < 1 << 21
    finally:
        tracemalloc.stop()


def test_attributes_of_all_members_are_not_kept_for_each(tmp_path):
    """A member with its own attributes has a copy of the global ones; Python would keep every copy."""
    path, common = tmp_path / "sounds.tar", {f"comment.{number}": "" for number in range(2500)}
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT, pax_headers=common) as archive:
        for number in range(300):
            member = tarfile.TarInfo(f"sounds/{number}")
            member.pax_headers = {"comment": "its own"}
            archive.addfile(member)
    tracemalloc.start()
    try:
        assert folder_checksum(path, LIMIT)
        assert tracemalloc.get_traced_memory()[1] < 1 << 23  # three hundred copies take 1 << 25
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("layout", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_as_long_as_a_path_may_be_are_taken(tmp_path, layout):
    name = "/".join(["a" * 100] * 40)
    member, content = file_member(f"sounds/{name}", b"one")
    with tarfile.open(tmp_path / "sounds.tar", "w", format=layout) as archive:
        archive.addfile(member, io.BytesIO(content))
    line = f"{hashlib.sha256(b'one').hexdigest()}  {name}\n"
    assert folder_checksum(tmp_path / "sounds.tar", LIMIT) == hashlib.sha256(line.encode()).hexdigest()


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_packed_by_a_method_without_bounds_is_refused(tmp_path, method):
    with zipfile.ZipFile(tmp_path / "sounds.zip", "w", method) as archive:
        archive.writestr("sounds/a", bytes(LIMIT))
    with pytest.raises(Unusable, match="'sounds/a', packed by a method that may not be safe"):
        unpack(tmp_path / "sounds.zip", tmp_path / "out", 1 << 40)


def test_a_zip_with_more_members_than_may_be_takes_little_memory(tmp_path):
    """A million members of forty-seven bytes each; Python would create a million objects first."""
    entry = struct.pack("<4s6H3I5H2I", b"PK\1\2", *[0] * 6, 0, 0, 0, 1, *[0] * 4, 0, 0) + b"a"
    listed = entry * 1_000_000
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, len(listed), 0, 0)
    (tmp_path / "sounds.zip").write_bytes(listed + end)
    del listed
    tracemalloc.start()
    try:
        with pytest.raises(Unusable, match="description of its members is too large"):
            unpack(tmp_path / "sounds.zip", tmp_path / "out", 1 << 40)
        assert tracemalloc.get_traced_memory()[1] < 1 << 25
    finally:
        tracemalloc.stop()

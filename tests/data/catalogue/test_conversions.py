"""Conversions of public archives, on small archives of the same format."""

import hashlib
import io
import zipfile
from pathlib import Path

import pytest
from PIL import Image
from toy_sets import Server, a_file, catalogue_of, contents, serving

from regard.base.progress import silent
from regard.data.catalogue.conversions import CONVERSIONS, make_from_archives
from regard.data.catalogue.entries import entries
from regard.data.catalogue.get import get

BROWN = {
    "brown/cb01": b"\n\n\tAssembly/nn-hl session/nn-hl\n\n",
    "brown/ca01": b"\n\tThe/at jury/nn said/vbd ``/`` 1/2/cd ''/'' ./.\n\n\n\tIt/pps did/dod ./.\n",
    "brown/README": b"Not/nn a/at text/nn\n",
}
MORPHO = {
    "mac_morpho/b.txt": "São_NPROP\nS_NPROP\n._NPROP\n._.\n\n\nOi_IN\n!_!\n".encode("latin-1"),
    "mac_morpho/a.txt": "Um_ART\ntítulo_N\n\nFim_N \n?_?".encode("latin-1"),
}
REVIEWS = {
    "movie_reviews/pos/cv001_7.txt": b"a  joy . \nsee it .\n",
    "movie_reviews/neg/cv000_9.txt": b"dull .\n",
}
TREES = {"treebank/combined/wsj_0001.mrg": b"\n( (S \n    (NP (-LRB- -LRB-) )\n  ))\n( (X (Y z) ))\n\n"}


def zip_of(members: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(next(iter(members)).partition("/")[0] + "/", b"")
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


@pytest.mark.parametrize(
    ("members", "wanted", "conversion", "text"),
    [
        (BROWN, "c[a-r][0-9]{2}", "words before slashes", "The jury said `` 1/2 '' .\nIt did .\nAssembly session\n"),
        (
            MORPHO,
            ".*[.]txt",
            "tagged sentences",
            "Um_ART título_N\nFim_N ?_?\nSão_NPROP S_NPROP ._NPROP ._.\nOi_IN !_!\n",
        ),
        (REVIEWS, ".*", "labelled documents", "neg\tcv000\tdull .\npos\tcv001\ta joy . see it .\n"),
        (TREES, ".*", "trees", "( (S (NP (-LRB- -LRB-) ) ))\n( (X (Y z) ))\n"),
        (BROWN, "README", "as they are", "Not/nn a/at text/nn\n"),
    ],
    ids=["brown", "mac-morpho", "movie-reviews", "treebank", "as they are"],
)
def test_members_become_text(tmp_path: Path, members: dict[str, bytes], wanted: str, conversion: str, text: str):
    archive = tmp_path / f"{next(iter(members)).partition('/')[0]}.zip"
    archive.write_bytes(zip_of(members))
    make_from_archives([archive], wanted, conversion, tmp_path / "made")
    assert (tmp_path / "made").read_text(encoding="utf-8") == text


def test_files_of_one_archive_are_made_of_one_download(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    packed = zip_of(BROWN)
    with serving(Server(content={"/brown.zip": packed})) as server:
        part = {"size": len(packed), "sha256": hashlib.sha256(packed).hexdigest()}
        fields = {"derived": "Made.", "conversion": "words before slashes"}
        parts = [{"address": f"{server.address}/brown.zip", **part}]
        entry = catalogue_of(
            monkeypatch,
            a_file("a.txt.gz", b"The jury said `` 1/2 '' .\nIt did .\n", parts=parts, members="ca01", **fields),
            a_file("b.txt.gz", b"Assembly session\n", parts=parts, members="cb01", **fields),
        )
        get("toy", None, silent)
    assert contents(entry.folder) == {
        "a.txt": b"The jury said `` 1/2 '' .\nIt did .\n",
        "b.txt": b"Assembly session\n",
    }
    assert [path for path, _ in server.asked] == ["/brown.zip"]


def test_letters_of_two_archives_become_strokes_pictures_and_alphabets(tmp_path: Path):
    """One stroke goes up, another is a dot; nine of six by three pixels are black. Both archives share a letter."""
    stroke_text = b"START\n1.25,-9.0,0\n3.25,-4.6,8\nBREAK\n5.25,-9.0,20\nBREAK\n"
    picture = Image.new("1", (6, 3), 1)
    picture.paste(0, (0, 0, 3, 3))
    file = io.BytesIO()
    picture.save(file, "PNG")
    for name, letters in (("one", ["Greek"]), ("two", ["Latin", "Greek"])):
        members = {f"{name}/{letter}/character01/7_01.txt": stroke_text for letter in letters}
        members |= {f"{name}/{letter}/character01/7_01.png": file.getvalue() for letter in letters}
        (tmp_path / f"{name}.zip").write_bytes(zip_of(members))

    def made(members: str, conversion: str) -> bytes:
        make_from_archives([tmp_path / "one.zip", tmp_path / "two.zip"], members, conversion, tmp_path / "made")
        return (tmp_path / "made").read_bytes()

    strokes = "[[[1,9],[3,5]],[[5,9]]]"
    lines = [f'{{"label":"{alphabet}","strokes":{strokes}}}\n' for alphabet in ("Greek", "Latin")]
    assert made(".*[.]txt", "drawn letters").decode() == "".join(lines)
    assert made(".*[.]png", "alphabets of letters") == b"Greek\nLatin\n"
    assert made(".*[.]png", "pictured letters") == bytes(
        [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 255, 0, 255, 0]
    )


def test_every_conversion_that_the_catalogue_names_exists_and_takes_archives():
    conversions = [file for entry in entries().values() for file in entry.files if file.conversion]
    assert {file.conversion for file in conversions} == set(CONVERSIONS)
    assert all(file.parts and file.members for file in conversions)

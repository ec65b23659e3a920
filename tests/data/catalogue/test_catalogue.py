"""The catalogue names the source of every set, and names never lead outside the sets' folders."""

import gzip
import lzma
import re
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.data.catalogue.entries import data_folder, entries, find, locate, presence, read_entries
from regard.data.catalogue.unpack import bare, leads_out, twins

FILES = [(entry, file) for entry in entries().values() for file in entry.files]

UNSEEN = {"wmt14-en-de", "wmt14-en-fr"}  # sets that nobody here has had, so their checksums are missing


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    return tmp_path


def put(path: Path, content: bytes = b"x\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


# --- catalogue entries


def test_the_sets_that_recipes_need_are_there():
    assert {"multi30k", "tatoeba-en-pt", "cmudict-g2p", "shakespeare-modern", "ptb", "tiny-shakespeare"} <= set(
        entries()
    )


@pytest.mark.parametrize("entry", entries().values(), ids=list(entries()))
def test_every_set_says_what_it_is_whose_it_is_and_where_it_comes_from(entry):
    assert all([entry.title, entry.what, entry.licence])
    assert entry.terms.endswith(".")
    assert re.search(r"https?://\S+", entry.source)
    assert len({bare(file.path) for file in entry.files}) == len(entry.files)


@pytest.mark.parametrize(("entry", "file"), FILES, ids=[f"{entry.name}:{file.path}" for entry, file in FILES])
def test_every_file_has_a_checksum_and_an_address_or_a_derivation(entry, file):
    assert re.fullmatch("[0-9a-f]{64}", file.sha256) or entry.name in UNSEEN
    assert file.size > 0
    assert not leads_out(file.path)
    if file.address:
        assert file.address.startswith("https://")
        assert " " not in file.address
    else:
        assert file.derived
        assert file.derived.endswith(".")
    for part in [*file.parts, *([file.unseen_in] if file.unseen_in else [])]:
        assert part.address.startswith("https://")
        assert re.fullmatch("[0-9a-f]{64}", part.sha256)


def test_addresses_on_github_are_pinned_to_a_commit():
    for _, file in FILES:
        for address in [file.address or "", *(part.address for part in file.parts)]:
            if "github" in address:
                assert re.search("/[0-9a-f]{40}[/.]", address)


def test_no_two_sets_answer_to_one_name():
    names = [name for entry in entries().values() for name in (entry.name, *entry.aliases)]
    assert len(names) == len(set(names))


def test_an_address_is_the_base_and_the_path_unless_the_file_says_another():
    about = {"title": "A", "what": "a", "licence": "l", "terms": "t.", "source": "s", "base": "https://host/top/"}
    sums = {"size": 1, "sha256": "0" * 64}
    files = [
        {"path": "a/b.gz", **sums},
        {"path": "c.gz", "address": "c", **sums},
        {"path": "d", "address": "https://other/d", **sums},
        {"path": "e", "derived": "By hand.", **sums},
    ]
    entry = read_entries({"a": {**about, "files": files}})["a"]
    assert [file.address for file in entry.files] == [
        "https://host/top/a/b.gz",
        "https://host/top/c",
        "https://other/d",
        None,
    ]


def test_a_faulty_catalogue_is_refused_with_the_place():
    with pytest.raises(Fault, match="the entry a of the data catalogue needs 'licence'"):
        read_entries({"a": {"title": "A", "what": "a", "terms": "t.", "source": "s", "files": []}})


# --- locations of sets


def test_the_data_folder_is_named_by_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("REGARD_DATA", str(tmp_path / "mine"))
    assert data_folder() == tmp_path / "mine"
    monkeypatch.delenv("REGARD_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder() == tmp_path / "cache" / "regard" / "data"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".cache" / "regard" / "data"
    monkeypatch.setenv("REGARD_DATA", "~/sets")
    assert data_folder() == tmp_path / "sets"
    assert list(tmp_path.iterdir()) == []


def test_an_alias_means_the_same_set():
    assert find("cmudict") is find("cmudict-g2p")


def test_an_unknown_set_gets_the_nearest_name():
    with pytest.raises(Fault, match=r"^There is no data set 'multi3k'; did you mean 'multi30k'\?$"):
        find("multi3k")
    with pytest.raises(Fault, match="`regard data list` shows all of them"):
        find("Пушкин")


def test_twins_are_the_same_content_packed_otherwise():
    assert bare("raw/train.en.gz") == bare("raw/train.en.xz") == "raw/train.en"
    assert bare("recordings.tar.xz") == "recordings"
    assert twins("train.en.gz")[:2] == ["train.en.gz", "train.en"]
    assert "train.en.xz" in twins("train.en.gz")


@pytest.mark.parametrize("there", ["raw/train.en.gz", "raw/train.en", "raw/train.en.xz"])
def test_a_file_is_found_however_it_is_packed(folder, there):
    place = put(folder / "multi30k" / there)
    assert locate("multi30k:raw/train.en.gz") == place
    assert locate("multi30k:raw/train.en") == place


def test_the_name_as_given_comes_before_its_twins(folder):
    put(folder / "multi30k/raw/train.en", b"plain")
    packed = put(folder / "multi30k/raw/train.en.gz", gzip.compress(b"packed"))
    assert locate("multi30k:raw/train.en.gz") == packed


def test_a_set_called_by_its_alias_lies_in_its_own_folder(folder):
    place = put(folder / "cmudict-g2p/cmudict-0.7b.test", b"A  AH0\n")
    assert locate("cmudict:cmudict-0.7b.test.gz") == place


def test_a_file_of_ones_own_beside_the_set_can_be_named(folder):
    place = put(folder / "multi30k/mine.en.xz", lzma.compress(b"mine\n"))
    assert locate("multi30k:mine.en") == place


def test_a_folder_of_the_catalogue_is_found_unpacked_or_as_an_archive(folder):
    archive = put(folder / "fsdd/recordings.tar.xz")
    assert locate("fsdd:recordings") == archive
    archive.unlink()
    place = put(folder / "fsdd/recordings/0_a_0.wav").parent
    assert locate("fsdd:recordings.tar.xz") == place


def test_an_absent_file_says_its_set_its_source_and_the_command(folder):
    with pytest.raises(Fault) as fault:
        locate("multi30k:raw/train.en.gz")
    (sentence,) = fault.value.sentences
    assert "raw/train.en.gz of the data set multi30k is not in" in sentence
    assert "https://github.com/multi30k/dataset" in sentence
    assert "`regard data get multi30k` brings it here" in sentence


def test_what_cannot_be_downloaded_says_from_where_to_take_it(folder):
    with pytest.raises(Fault, match="`regard data get babi --from DIR` brings it here"):
        locate("babi:tasks_1-20_v1-2.tar.xz")


def test_a_misspelt_file_gets_the_nearest_name(folder):
    with pytest.raises(Fault, match=r"multi30k has no file 'raw/trian.en.gz'; did you mean 'raw/train.en.gz'\?"):
        locate("multi30k:raw/trian.en.gz")


@pytest.mark.parametrize("name", ["multi30k", "multi30k:"])
def test_a_set_without_a_file_gets_an_example(folder, name):
    with pytest.raises(Fault, match=r"names a data set but no file of it; write it as in multi30k:raw/"):
        locate(name)


@pytest.mark.parametrize("path", ["../secret", "/etc/passwd", "raw/../../secret", ".", "a\0b"])
def test_nothing_outside_the_set_can_be_named(folder, path):
    put(folder / "secret")
    (folder / "multi30k/raw").mkdir(parents=True)
    with pytest.raises(Fault, match="leads out of the folder of multi30k"):
        locate(f"multi30k:{path}")


def test_a_folder_is_not_a_file(folder):
    (folder / "multi30k/raw").mkdir(parents=True)
    with pytest.raises(Fault, match="has no file 'raw'"):
        locate("multi30k:raw")


def test_presence_counts_the_files_that_are_there(folder):
    entry = find("tatoeba-en-pt")
    assert presence(entry) == "no"
    put(entry.folder / "eng-por.train.tsv")
    assert presence(entry) == "part"
    put(entry.folder / "eng-por.test-v2021-08-07.tsv.gz")
    assert presence(entry) == "here"

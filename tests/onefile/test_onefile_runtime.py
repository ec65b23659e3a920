"""The runtime of one-file pages: taken only as it was published, from a folder, an archive, the cache or npm."""

import base64
import hashlib
import io
import tarfile
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.base.files import checksum
from regard.data.catalogue.download import DownloadFailed
from regard.onefile import runtime

SCRIPT = (
    "const a = import.meta.url, b = 2;export{a as InferenceSession,b as default,b as env};\n//# sourceMappingURL=x.map"
)
FILES = {"dist/ort.wasm.bundle.min.mjs": SCRIPT.encode(), "dist/ort-wasm-simd-threaded.wasm": b"\0asm"}


@pytest.fixture(autouse=True)
def pretended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two small files be the published ones, with an empty cache and no network."""
    monkeypatch.setattr(runtime, "_CHECKSUMS", {name: checksum(content) for name, content in FILES.items()})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(runtime.VARIABLE, raising=False)
    monkeypatch.setattr(runtime, "download", _no_network)


def _no_network(*_: object) -> None:
    raise DownloadFailed("registry.npmjs.org cannot be reached (no network)")


def package(folder: Path) -> Path:
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def archive(path: Path) -> Path:
    with tarfile.open(path, "w:gz") as packed:
        for name, content in FILES.items():
            about = tarfile.TarInfo(f"package/{name}")
            about.size = len(content)
            packed.addfile(about, io.BytesIO(content))
    return path


def publish(packed: Path, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Let an archive be the published one, and return its content."""
    content = packed.read_bytes()
    monkeypatch.setattr(runtime, "INTEGRITY", base64.b64encode(hashlib.sha512(content).digest()).decode())
    return content


def test_a_package_given_by_path_defines_what_it_exports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = ('const a = "regard:/runtime.js", b = 2;globalThis.ort={InferenceSession:a,env:b};\n', b"\0asm")
    assert runtime.find_runtime(package(tmp_path / "given")) == expected
    publish(archive(tmp_path / "given.tgz"), monkeypatch)
    assert runtime.find_runtime(tmp_path / "given.tgz") == expected


def test_the_environment_names_a_package_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(runtime.VARIABLE, str(package(tmp_path / "named")))
    assert runtime.find_runtime().wasm == b"\0asm"


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    folder = package(tmp_path / "given")
    (folder / "dist" / "ort-wasm-simd-threaded.wasm").write_bytes(b"\0asm!")
    with pytest.raises(Fault, match=r"ort-wasm-simd-threaded\.wasm in .* is not that of onnxruntime-web 1\."):
        runtime.find_runtime(folder)


def test_what_is_no_package_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Fault, match="does not exist; name the npm package"):
        runtime.find_runtime(tmp_path / "nowhere")
    with pytest.raises(Fault, match=r"it has no dist/ort\.wasm"):
        runtime.find_runtime(tmp_path)
    with pytest.raises(Fault, match=r"is not the archive of onnxruntime-web .* that npm has"):
        runtime.find_runtime(archive(tmp_path / "another.tgz"))


def test_it_is_fetched_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed, asked = publish(archive(tmp_path / "sent.tgz"), monkeypatch), list[str]()

    def send(address: str, part: Path, limit: int, report: object) -> None:
        asked.append(address)
        part.write_bytes(packed)

    monkeypatch.setattr(runtime, "download", send)
    assert runtime.find_runtime() == runtime.find_runtime()
    assert asked == ["https://registry.npmjs.org/onnxruntime-web/-/onnxruntime-web-1.30.0.tgz"]
    assert sorted(path.name for path in runtime.cache_folder().rglob("*.*") if path.is_file()) == [
        "ort-wasm-simd-threaded.wasm",
        "ort.wasm.bundle.min.mjs",
    ]


def test_another_archive_than_the_published_one_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = archive(tmp_path / "sent.tgz").read_bytes()
    monkeypatch.setattr(runtime, "download", lambda address, part, *_: part.write_bytes(packed))
    with pytest.raises(Fault, match="is not the archive of onnxruntime-web"):
        runtime.find_runtime()
    assert [path for path in runtime.cache_folder().rglob("*") if path.is_file()] == []


def test_without_network_the_path_is_asked_for() -> None:
    with pytest.raises(Fault, match=r"cannot be reached \(no network\); give its npm package, version .* --runtime"):
        runtime.find_runtime()

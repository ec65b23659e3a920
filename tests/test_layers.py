"""Import rules and size limits: this file enforces the table in docs/map.md."""

import ast
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from types import ModuleType

import pytest
from syntax import nodes

import regard.base
import regard.data
import regard.viewing

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "regard"
HIDING = ("importlib", "importlib.import_module")  # standard library, but they import what a string names
PLACE = re.compile(r"(regard(?:\.\w+)+)(?::\w+)?")  # a string that names a module, or something in it


def table() -> dict[str, set[str]]:
    """Return the imports that each layer is allowed besides its own package."""
    text = (ROOT / "docs" / "map.md").read_text(encoding="utf-8")
    section = text.split("## Who may import whom")[1].split("\n## ")[0]
    allowed: dict[str, set[str]] = {}
    for line in re.findall(r"^\| `.*\|$", section, re.MULTILINE):
        who, ours, others = (re.findall(r"[\w.]+", cell) for cell in line.strip("|").split("|"))
        names = {"regard" if name == "everything" else f"regard.{name}" for name in ours} | set(others)
        allowed |= dict.fromkeys(who, names)
    return allowed


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Return every import in a file with its line and full name, including modules named in strings."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from ((node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (place := PLACE.fullmatch(node.value)):
            yield node.lineno, place[1]


def code_files(package: Path) -> list[Path]:
    """Return the modules of a package; steps of lessons are code that readers run, not modules."""
    return [path for path in sorted(package.rglob("*.py")) if "material" not in path.relative_to(package).parts]


def modules(package: Path) -> dict[str, Path]:
    """Return every module of a package by name."""
    paths = {path.relative_to(package.parent).with_suffix(""): path for path in code_files(package)}
    return {".".join(name.parts).removesuffix(".__init__"): path for name, path in paths.items()}


def arrows(package: Path) -> Iterator[tuple[str, str]]:
    """Return every pair of modules in which the first imports the second."""
    paths = modules(package)
    for module, path in paths.items():
        for _, name in imports(path):
            other = name if name in paths else name.rpartition(".")[0]
            if other in paths:
                yield module, other


def circle(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return the first import cycle, if there is one."""
    graph: dict[str, set[str]] = {}
    for one, other in pairs:
        if one != other:
            graph.setdefault(one, set()).add(other)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as found:
        return list(found.args[1])
    return []


def layer_of(path: Path, package: Path) -> str:
    return path.relative_to(package).parts[0].removesuffix(".py")


def forbidden(package: Path) -> list[str]:
    """Return the imports that the table does not allow."""
    allowed, violations = table(), []
    for path in code_files(package):
        layer = layer_of(path, package)
        may = {*allowed[layer], f"regard.{layer}"}
        for line, name in imports(path):
            free = name.partition(".")[0] in sys.stdlib_module_names and name not in HIDING
            if not free and not any(name == prefix or name.startswith(f"{prefix}.") for prefix in may):
                violations.append(f"{path.relative_to(package)}:{line} imports {name}")
    return violations


def overlong(package: Path) -> list[str]:
    """Return the files and functions that are too long."""
    violations = []
    for path in code_files(package):
        place = path.relative_to(package)
        lines, most = len(path.read_text(encoding="utf-8").splitlines()), 249 if path.name == "trainer.py" else 400
        if lines > most:
            violations.append(f"{place} has {lines} lines, {most} are the most")
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > 60:
                    violations.append(f"{place}:{node.lineno} {node.name} has {length} lines, 60 are the most")
    return violations


def made(folder: Path, place: str, text: str) -> Path:
    """Return a package with one made-up file."""
    path = folder / "regard" / place
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    return folder / "regard"


def test_nobody_imports_what_the_table_forbids() -> None:
    assert forbidden(PACKAGE) == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Strings that name modules count as imports."""
    assert circle(arrows(PACKAGE)) == []


def test_layers_lie_one_above_the_other() -> None:
    deep = [(one.split("."), other.split(".")) for one, other in arrows(PACKAGE)]
    assert circle((one[1], other[1]) for one, other in deep if len(one) > 1 and len(other) > 1) == []


def test_a_circle_is_found_though_a_string_hides_half_of_it(tmp_path: Path) -> None:
    package = made(tmp_path, "data/one.py", "from regard.data import two\n")
    (package / "data" / "two.py").write_text('PLACE = "regard.data.one:Name"\n', encoding="utf-8")
    assert {*circle(arrows(package))} == {"regard.data.one", "regard.data.two"}


def test_every_layer_has_a_row_and_every_row_a_layer() -> None:
    assert set(table()) == {layer_of(path, PACKAGE) for path in PACKAGE.rglob("*.py")}


@pytest.mark.parametrize(
    ("place", "line", "found"),
    [
        ("attention/bad.py", "from regard.tasks import translation", "regard.tasks.translation"),
        ("training/bad.py", "import regard.models.transformer.network", "regard.models.transformer.network"),
        ("decoding/bad.py", "from regard.metrics.text import score", "regard.metrics.text.score"),
        ("decoding/bad.py", "from regard import runs", "regard.runs"),
        ("data/bad.py", "import torch.nn", "torch.nn"),
        ("data/bad.py", "from regard.protocols import Task", "regard.protocols.Task"),
        ("viewing/bad.py", "from regard.attention import Attention", "regard.attention.Attention"),
        ("attention/bad.py", "from regard.viewing.page import scene_page", "regard.viewing.page.scene_page"),
        ("tasks/bad.py", "from regard.training.trainer import Trainer", "regard.training.trainer.Trainer"),
        ("metrics/bad.py", "from ..models import parts", "..models.parts"),
        ("models/bad.py", "from importlib import import_module", "importlib.import_module"),
        ("families.py", "from regard.training.trainer import Trainer", "regard.training.trainer.Trainer"),
    ],
)
def test_a_forbidden_import_is_found_even_inside_a_function(tmp_path: Path, place: str, line: str, found: str) -> None:
    assert forbidden(made(tmp_path, place, f"def late():\n    {line}\n")) == [f"{place}:2 imports {found}"]


def test_an_allowed_import_is_not_found(tmp_path: Path) -> None:
    text = "import json\nfrom regard.attention.watch import Gaze\nfrom regard.viewing import canvas\n"
    assert forbidden(made(tmp_path, "seeing/good.py", text)) == []


@pytest.mark.parametrize(("package", "fewest"), [(regard.base, 8), (regard.data, 30)])
def test_what_lies_under_everything_works_without_torch(package: ModuleType, fewest: int) -> None:
    names = sorted(module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."))
    assert len(names) > fewest
    program = f"import sys, {', '.join(names)}; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_view_loads_what_draws_only_to_draw() -> None:
    names = sorted(module.name for module in pkgutil.walk_packages(regard.viewing.__path__, "regard.viewing."))
    assert len(names) > 30
    drawing = "{'matplotlib', 'PIL', 'rich', 'torch'}"
    program = f"import sys, {', '.join(names)}; sys.exit(', '.join(sorted({drawing} & {{*sys.modules}})) or 0)"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_files_and_functions_stay_readable() -> None:
    assert overlong(PACKAGE) == []


def test_an_overlong_file_and_function_are_found(tmp_path: Path) -> None:
    text = "def endless():\n" + "    pass\n" * 60 + "\n" * 189
    assert overlong(made(tmp_path / "one", "training/trainer.py", text)) == [
        "training/trainer.py has 250 lines, 249 are the most",
        "training/trainer.py:1 endless has 61 lines, 60 are the most",
    ]
    assert overlong(made(tmp_path / "two", "runs.py", "\n" * 401)) == ["runs.py has 401 lines, 400 are the most"]


# Modules that may know the translation task: its own package and modules about translating.
TRANSLATORS = (
    "tasks/__init__.py",
    "tasks/translation/",
    "verbs/translate/",
    "engines/",
    "runs/distil/",
    "runs/from_text/",
    "seeing/looking.py",
    "seeing/sentences.py",
    "seeing/pair_reports.py",
    "seeing/pair_roles.py",
    "seeing/next_token.py",
    "seeing/nearest/translators.py",
    "seeing/probes/translators.py",
    "seeing/lessons/",
    "seeing/trust/links.py",
    "seeing/why/translators.py",
    "verbs/look/views.py",
)


def naming_translation(package: Path) -> list[str]:
    """Return the files that name the translation task without being about translating."""
    places = {path.relative_to(package).as_posix(): path for path in sorted(package.rglob("*.py"))}
    return [
        place
        for place, path in places.items()
        if "tasks.translation" in path.read_text(encoding="utf-8") and not place.startswith(TRANSLATORS)
    ]


def test_no_other_module_knows_of_translation() -> None:
    assert naming_translation(PACKAGE) == []


def test_a_module_that_knows_of_translation_is_found(tmp_path: Path) -> None:
    text = 'PLACE = "regard.tasks.translation.task:Translation"\n'
    assert naming_translation(made(tmp_path, "runs/open.py", text)) == ["runs/open.py"]
    assert naming_translation(made(tmp_path / "other", "verbs/translate/good.py", text)) == []


def asking_for_networks(package: Path) -> list[str]:
    """Return the places where a task asks for the class of its network."""
    return [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in sorted((package / "tasks").rglob("*.py"))
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "isinstance"
        and re.search(r"\b(model|network)\b", ast.unparse(node.args[0]))
    ]


def test_no_task_asks_which_network_it_holds() -> None:
    assert asking_for_networks(PACKAGE) == []


def test_a_task_that_asks_which_network_it_holds_is_found(tmp_path: Path) -> None:
    text = "def sides(self):\n    return isinstance(self.model, GPT) or isinstance(self.modelled, GPT)\n"
    assert asking_for_networks(made(tmp_path, "tasks/bad.py", text)) == ["tasks/bad.py:2"]


def test_no_two_files_of_tests_share_a_name() -> None:
    """Python would import one in place of the other."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py")
    assert [name for name, count in names.items() if count > 1] == []

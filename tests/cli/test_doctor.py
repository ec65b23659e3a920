"""The doctor: its findings on a healthy machine and on a faulty one."""

import json
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

from regard.base.faults import Fault
from regard.commands import doctor


@pytest.fixture
def requirements(monkeypatch):
    """Pretend that regard requires these."""

    def pretend(*lines):
        monkeypatch.setattr(doctor.metadata, "requires", lambda _: list(lines))

    return pretend


@pytest.fixture(autouse=True)
def _healthy_torch(monkeypatch):
    """Skip loading torch, which takes seconds and matters to one test only."""
    monkeypatch.setattr(doctor, "_torch", lambda: {"version": "2.13.0", "cuda": [], "threads": 2})


def test_a_healthy_machine(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    doctor.command()
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split() == ["rich", metadata.version("rich")] for line in lines)
    assert any(line.startswith("computes on") and line.endswith("the CPU, 2 threads; no CUDA device") for line in lines)
    assert lines[-1] == "Next: regard demo"


def test_it_says_where_regard_is_and_how_to_install_what_is_only_a_folder(monkeypatch):
    findings = doctor.examine()
    assert doctor.report_lines(findings)[0].endswith(f"{findings['regard']} in {Path(doctor.__file__).parents[1]}")

    def fail(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.metadata, "version", fail)
    monkeypatch.setattr(doctor.metadata, "requires", fail)
    assert (
        "not installed; run `make setup` or `pip install .` in its checkout" in doctor.report_lines(doctor.examine())[0]
    )


def test_beside_a_gpu_it_says_how_many_threads_are_used(monkeypatch):
    facts = {"version": "2.13.0", "cuda": ["NVIDIA H200"], "threads": 16, "threads_beside_gpu": 2, "kernels": None}
    facts |= {"shared": False, "sharing": None}
    monkeypatch.setattr(doctor, "_torch", lambda: facts)
    lines = doctor.report_lines(doctor.examine())
    assert any(line.endswith("NVIDIA H200, the CPU, 16 threads (2 next to a GPU)") for line in lines)


@pytest.mark.parametrize(
    ("shared", "sharing", "shown"),
    [(True, None, "share the GPU by MPS"), (False, None, "take turns on the GPU"), (False, "advice", "advice")],
)
def test_with_a_gpu_it_says_how_several_runs_use_it(monkeypatch, shared, sharing, shown):
    facts = {"version": "2.13.0", "cuda": ["NVIDIA H200"], "threads": 16, "threads_beside_gpu": 2, "kernels": None}
    monkeypatch.setattr(doctor, "_torch", lambda: facts | {"shared": shared, "sharing": sharing})
    lines = [" ".join(line.split()) for line in doctor.report_lines(doctor.examine())]
    assert f"several runs {shown}" in lines


def test_after_the_demo_comes_translating(tmp_path, monkeypatch):
    (tmp_path / "runs" / "demo").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert doctor.examine()["next"] == 'echo "I love books." | regard translate runs/demo'


def test_versions_are_compared_as_numbers(requirements):
    requirements("rich>=2.0", "typer>=99.1", "no-such-package>=1.5", 'nothing-here; extra == "dev"', "numpy")
    verdicts = {dependency.name: dependency.will_do for dependency in doctor.dependencies()}
    assert verdicts == {"rich": True, "typer": False, "no-such-package": False, "numpy": True}


def test_what_is_missing_is_named_with_the_way_to_get_it(requirements, capsys):
    requirements("rich>=99", "no-such-package")
    with pytest.raises(Fault, match="Missing or too old: rich, no-such-package"):
        doctor.command()
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert f"rich {metadata.version('rich')}; 99 or newer is needed" in lines
    assert "no-such-package missing" in lines
    assert lines[-1].endswith("-m pip install 'rich>=99' 'no-such-package'")


def test_json_says_the_same(requirements, capsys):
    requirements("rich>=2")
    doctor.command(as_json=True)
    report = json.loads(capsys.readouterr().out)
    assert report["missing"] == []
    assert report["dependencies"] == [
        {"name": "rich", "needed": "2", "found": metadata.version("rich"), "will_do": True}
    ]


def test_every_extra_for_users_is_known():
    table = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(doctor.examine()["extras"]) == set(table["project"]["optional-dependencies"]) - {"bench", "dev", "docs"}


def test_an_extra_is_here_or_the_way_to_get_it_is_told(requirements, capsys):
    requirements('rich>=2; extra == "onnx"', 'no-such-package; extra == "pictures"')
    doctor.command()
    rows = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines() if line.startswith("extra "))
    extras = {name.removeprefix("extra "): finding.strip() for name, finding in rows.items()}
    assert extras["onnx"] == "works"
    assert extras["pictures"].startswith("not installed; `pip install 'regard[pictures]'` installs it")


def test_a_torch_that_cannot_be_loaded_is_told(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "_torch", lambda: {"fault": "libgomp.so.1: cannot open shared object file"})
    with pytest.raises(Fault, match=r"torch is installed but cannot be loaded: libgomp"):
        doctor.command()
    assert "nothing: torch cannot be loaded" in capsys.readouterr().out


def test_a_folder_that_is_not_there_yet_is_judged_by_the_one_above(tmp_path):
    assert doctor.can_write(tmp_path / "not" / "yet")
    file = tmp_path / "file"
    file.touch()
    assert not doctor.can_write(file / "under")

"""One case in n stays in `make test`, and `make test-long` has the others: see `sampled.py`."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest

@pytest.fixture(params="abcdef", scope="module")
def letter(request):
    return request.param

@pytest.mark.one_in(3)
@pytest.mark.parametrize("number", range(4))
def test_product(letter, number): pass

@pytest.mark.one_in(2)
@pytest.mark.parametrize(("name", "size"), [("a", 0), ("b", 1), ("c", 2), ("d", 3)])
def test_pairs(name, size): pass

@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", [pytest.param("a", marks=pytest.mark.long), "b"])
def test_first_is_long(name): pass

@pytest.mark.one_in(5)
def test_alone(): pass
"""


class Collected:
    """Plugin that keeps the names of the tests that are chosen."""

    def __init__(self) -> None:
        self.names = list[str]()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.names = [item.name for item in session.items]


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Return the names of the tests that each choice of markers runs."""
    import sampled

    class Sampling(Collected):
        @pytest.hookimpl(tryfirst=True)
        def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
            sampled.leave_to_long_runs(items)

    folder = tmp_path_factory.mktemp("sampled")
    (folder / "test_cases.py").write_text(TESTS, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    long\n    one_in(n)\n", encoding="utf-8")
    found = {}
    for choice in ("", "long", "not long"):
        plugin = Sampling()
        words = [
            "--collect-only",
            "-qq",
            "-p",
            "no:cacheprovider",
            "-p",
            "no:schemathesis",
            "-p",
            "no:unraisableexception",  # at its end it collects garbage five times, in all that earlier tests left
            "-c",
            str(folder / "pytest.ini"),
        ]
        assert pytest.main([*words, "-m", choice, str(folder)], [plugin]) == 0
        found[choice] = plugin.names
    return found


def test_no_case_is_lost(chosen: dict[str, list[str]]) -> None:
    assert sorted(chosen["long"] + chosen["not long"]) == sorted(chosen[""])
    assert len(chosen[""]) == 24 + 4 + 2 + 1


def test_every_value_of_a_product_keeps_a_case(chosen: dict[str, list[str]]) -> None:
    kept = [name[13:-1].split("-") for name in chosen["not long"] if name.startswith("test_product")]
    assert len(kept) == 8
    assert {letter for letter, _ in kept} == set("abcdef")
    assert {number for _, number in kept} == set("0123")


def test_values_given_together_count_once(chosen: dict[str, list[str]]) -> None:
    assert [name for name in chosen["not long"] if "pairs" in name] == ["test_pairs[a-0]", "test_pairs[c-2]"]


def test_no_test_is_left_out_altogether(chosen: dict[str, list[str]]) -> None:
    assert {"test_first_is_long[b]", "test_alone"} <= {*chosen["not long"]}

"""Plugins: rows from outside, when they are imported, and the refusals of faulty ones."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from plugin_files import site as site
from plugin_files import write_entry_point, write_module

import regard
from regard.base import plugins
from regard.base.model_folder import read_recipe, update_folder
from regard.cli import main
from regard.families import FAMILIES, check_recipe, recipe_class
from regard.plugins import Family, Plugin

TWIN = "def plugin():\n    return Plugin(families={'twin': Family(**FAMILY)})\n"


def test_a_named_plugin_adds_its_rows(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_module(site, "twins", TWIN)
    assert main(["families", "--json", "--plugin", "twins"]) == 0
    assert "twin" in [family["name"] for family in json.loads(capsys.readouterr().out)["families"]]
    assert FAMILIES["twin"].summary == "a twin of the convolutional net"
    assert (FAMILIES.source("twin").name, FAMILIES.source("gat")) == ("twins", None)
    assert os.environ["REGARD_PLUGINS"] == "twins:plugin"  # worker processes inherit it
    assert len(FAMILIES) == len(FAMILIES.shipped) + 1 == len([*FAMILIES])


def test_plugins_are_named_before_the_command_and_with_a_function_too(site: Path, capsys) -> None:
    write_module(site, "twins", TWIN.replace("plugin()", "rows()"))
    assert main(["--plugin", "twins:rows", "families"]) == 0
    assert "a twin of" in capsys.readouterr().out
    assert main(["families", "--help"]) == 0
    assert "--plugin MODULE" in capsys.readouterr().out


def test_a_module_of_the_current_folder_is_found(site: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    write_module(tmp_path, "nearby", TWIN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path not in ("", str(tmp_path))])
    assert main(["--plugin", "nearby", "families"]) == 0
    assert "a twin of" in capsys.readouterr().out


def test_installed_plugins_are_imported_only_where_no_built_in_name_answers(site: Path, capsys) -> None:
    write_module(site, "installed_twins", TWIN)
    write_entry_point(site, "twins", "installed_twins:plugin")
    for arguments in (["--help"], ["families", "--help"], ["recipes", "demo"], ["train", "--help"]):
        assert main(arguments) == 0
    assert recipe_class("gat", "nodes").network == "regard.models.gat:GAT"
    assert "installed_twins" not in sys.modules
    assert main(["families"]) == 0
    assert "a twin of" in capsys.readouterr().out
    assert "installed_twins" in sys.modules


def test_a_name_that_is_not_built_in_asks_installed_plugins(site: Path) -> None:
    write_module(site, "asked_twins", TWIN)
    write_entry_point(site, "twins", "asked_twins:plugin", "3.1")
    assert "twin" in FAMILIES
    assert FAMILIES.source("twin").package == ("twins", "3.1")
    regard.register("asked_twins")  # the same plugin loaded another way does not clash
    assert FAMILIES["twin"].looks is False


BROKEN = {
    "import nowhere_at_all\n": "The plugin broken cannot be imported: ModuleNotFoundError: No module named "
    "'nowhere_at_all'.",
    "1 / 0\n": "The plugin broken cannot be imported: ZeroDivisionError: division by zero.",
    "raise SystemExit(3)\n": "The plugin broken cannot be imported: SystemExit: 3.",
    "plugin = 3\n": "The plugin broken has no function plugin(), which returns its rows as a Plugin.",
    "def plugin():\n    return {}['rows']\n": "The function broken:plugin fails: KeyError: 'rows'.",
    "def plugin():\n    return [FAMILY]\n": "The function broken:plugin returns a list, expected a Plugin.",
    "def plugin():\n    return Plugin(families=[3])\n": "The plugin broken:plugin is wrong: families is [3], expected "
    "a dictionary of rows by name.",
    "def plugin():\n    return Plugin(families={'twin': FAMILY})\n": "The plugin broken has the family 'twin' as a "
    "dict, expected a Family.",
    "def plugin():\n    return Plugin(families={'gat': Family(**FAMILY)})\n": "The plugin broken has the family 'gat', "
    "but regard has one of that name; give it another.",
    "def plugin():\n    return Plugin(families={'twin': Family(**FAMILY | {'tasks': ('knitting',)})})\n": "The plugin "
    "broken has the family 'twin', but there is no task 'knitting'.",
    "def plugin():\n    return Plugin(families={'twin': Family(**FAMILY | {'learns': 'counting'})})\n": "The plugin "
    "broken has the family 'twin', but the task 'glimpses' is not learnt by counting.",
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_broken_plugin_that_is_named_is_refused_in_a_sentence(site: Path, capsys, text: str) -> None:
    write_module(site, "broken", text)
    assert main(["families", "--plugin", "broken"]) == 2
    assert capsys.readouterr().err == f"regard: {BROKEN[text]}\n"


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("absent", "There is no module absent for the plugin absent; install its package, or run regard in the folder "
         "that holds it."),
        ("./own.py", "--plugin takes the name of a module, not the file ./own.py; give --plugin own in the folder that "
         "holds it."),
        ("a b", "--plugin 'a b' is not the name of a module; give MODULE, or MODULE:FUNCTION."),
    ],
)  # fmt: skip
def test_a_plugin_that_is_not_there_is_refused(site: Path, capsys, place: str, sentence: str) -> None:
    assert main(["families", "--plugin", place]) == 2
    assert capsys.readouterr().err == f"regard: {sentence}\n"


@pytest.mark.parametrize("text", [text for text in BROKEN if "there is no task" not in BROKEN[text]])
def test_a_broken_plugin_that_is_installed_leaves_all_else_be(site: Path, capsys, text: str) -> None:
    write_module(site, "broken", text)
    write_entry_point(site, "bad-package", "broken:plugin")
    assert main(["recipes", "demo"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["families"]) == 0
    captured = capsys.readouterr()
    assert BROKEN[text] in captured.err
    assert "left out." in captured.err
    assert "transformer" in captured.out


def test_two_plugins_may_not_have_rows_of_one_name(site: Path, capsys) -> None:
    for name in ("twins", "others"):
        write_module(site, name, TWIN)
    both = "both have the family 'twin'; give one of them another name, or uninstall one."
    assert main(["families", "--plugin", "twins", "--plugin", "others"]) == 2
    assert capsys.readouterr().err == f"regard: The plugins twins and others {both}\n"


def test_a_name_that_two_installed_plugins_have_is_refused_and_no_other(site: Path, capsys) -> None:
    write_module(site, "twins", TWIN.replace("(**FAMILY)}", "(**FAMILY), 'second': Family(**FAMILY)}"))
    write_module(site, "others", TWIN)
    for name in ("twins", "others"):
        write_entry_point(site, name, f"{name}:plugin")
    with pytest.raises(regard.Fault, match=r"The plugins (twins and others|others and twins) both have the family"):
        check_recipe({"family": "twin"})
    assert FAMILIES["second"].learns == "gradient"
    assert main(["families"]) == 0
    assert "second" in capsys.readouterr().out


def test_a_class_that_is_not_there_is_refused_where_it_is_needed(site: Path, tmp_path: Path, capsys) -> None:
    write_module(site, "hollow", TWIN.replace("**FAMILY", "**FAMILY | {'module': 'hollow'}"))
    recipe = tmp_path / "twin.toml"
    recipe.write_text("family = 'twin'\n", encoding="utf-8")
    assert main(["train", str(recipe), "--plugin", "hollow"]) == 2
    expected = "hollow:ConvNetOptions, which a plugin names, cannot be imported: AttributeError: module 'hollow' has no"
    assert expected in capsys.readouterr().err


def test_an_unknown_family_is_refused_with_the_way_to_name_its_plugin() -> None:
    with pytest.raises(regard.Fault, match="name it with --plugin MODULE"):
        check_recipe({"family": "twin"})


def test_rows_and_functions_are_registered(site: Path) -> None:
    family = FAMILIES["convnet"]
    regard.register(Plugin(families={"first": family}))
    regard.register(lambda: Plugin(families={"second": family}))
    assert FAMILIES["first"] is FAMILIES["second"] is family
    assert isinstance(FAMILIES["first"], Family)
    with pytest.raises(regard.Fault, match="There is no module absent"):
        regard.register("absent")
    with pytest.raises(regard.Fault, match="returns a int, expected a Plugin"):
        regard.register(lambda: 3)


def test_a_function_of_a_module_is_registered_for_worker_processes_too(site: Path) -> None:
    write_module(site, "twins", TWIN)
    import twins

    regard.register(twins.plugin)
    assert FAMILIES["twin"].paper == "-"
    assert os.environ["REGARD_PLUGINS"] == "twins:plugin"


# Model folders that need a plugin


@pytest.fixture
def folder(trained: Path, tmp_path: Path) -> Path:
    """Return a model folder that declares a plugin it needs."""
    shutil.copytree(trained, tmp_path / "model")
    need(tmp_path / "model", plugin="twins", package="twin-package", version="1.2")
    return tmp_path / "model"


def need(folder: Path, **plugin: str | None) -> None:
    update_folder(folder, {"plugins.json": json.dumps({"plugins": [plugin]}).encode()})


COMMANDS = (
    ["info"],
    ["translate", "--text", "a"],
    ["evaluate"],
    ["average", "-o", "nowhere"],
    ["embed", "-o", "x.npz"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_model_of_a_plugin_that_is_not_here_is_refused_and_nothing_imported(
    site: Path, folder: Path, capsys, command: list[str]
) -> None:
    write_module(site, "twins", "raise SystemExit('imported')\n")
    assert main([command[0], str(folder), *command[1:]]) == 2
    expected = "needs the plugin twins of the package twin-package 1.2, which is not loaded; install it, or give"
    assert f"regard: {folder} {expected} --plugin twins." in capsys.readouterr().err
    assert "twins" not in sys.modules


def test_a_model_whose_plugin_is_named_or_installed_is_read(site: Path, folder: Path) -> None:
    write_module(site, "twins", TWIN)
    regard.register("twins")
    assert read_recipe(folder)["family"] == "transformer"


def test_an_installed_plugin_is_known_without_being_imported(site: Path, folder: Path) -> None:
    write_entry_point(site, "twin-package", "twins:plugin", "1.2")
    assert read_recipe(folder)["family"] == "transformer"
    assert "twins" not in sys.modules


def test_another_version_is_remarked_on_and_another_major_version_refused(site: Path, folder: Path, capsys) -> None:
    write_entry_point(site, "twin-package", "twins:plugin", "1.3")
    assert main(["info", str(folder)]) == 0
    message = f"{folder} was trained with twin-package 1.2, but 1.3 is installed.\n"
    assert capsys.readouterr().err == message
    need(folder, plugin="twins", package="twin-package", version="2.0")
    assert main(["info", str(folder)]) == 2
    assert "but 1.3 is installed, another major version; install version 2 of it, or train" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content", [b"[]", b"{}", b'{"plugins": []}', b'{"plugins": [{"plugin": "a b"}]}', b'{"plugins": [3]}',
                b'{"plugins": [{"plugin": "a", "version": 3}]}', b'{"plugins": [{"plugin": "' + b"a" * 200 + b'"}]}'],
)  # fmt: skip
def test_a_damaged_record_of_plugins_is_refused(site: Path, folder: Path, content: bytes) -> None:
    update_folder(folder, {"plugins.json": content})
    with pytest.raises(regard.Fault, match="does not list plugins by their names, packages and versions"):
        read_recipe(folder)


def test_no_code_in_a_model_folder_is_run(site: Path, folder: Path, monkeypatch, capsys) -> None:
    write_module(folder, "payload", "raise SystemExit('imported')\n")
    monkeypatch.chdir(folder.parent)
    assert main(["info", "model", "--plugin", "model.payload"]) == 2
    assert "lies in the model folder" in capsys.readouterr().err
    assert "model.payload" not in sys.modules


def test_a_plugin_keeps_what_it_is_called_by_place(site: Path) -> None:
    assert plugins.whole_place("one.two") == "one.two:plugin"
    assert plugins.whole_place(" one:rows ") == "one:rows"

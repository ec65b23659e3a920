"""Promises about models in use: saving and loading, watching, answering alone or together, drawing, refusing."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch import nn

from regard.attention.watch import watching
from regard.base.faults import Fault
from regard.base.places import find_place
from regard.families import FAMILIES, recipe_class
from regard.families.abilities import ADDRESS, COMMAND, METHOD, needs, verb_instead, verbs_of
from regard.promises.asking import ASKED, ONE_EACH, check_same, plain
from regard.promises.capabilities import VERBS, verbs_by_capabilities
from regard.promises.learning import numbers, refuse_other_numbers
from regard.promises.trial import Broken, DoesNotApply, Trial
from regard.serving.catalogue import open_models
from regard.tasks import TASKS
from regard.training.checkpoint import WEIGHTS, bytes_to_weights
from regard.training.snapshot import load_weights
from regard.verbs.table import verb_doors

METHODS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(("translate", "generate", "caption", "transcribe", "answer", "speak", "embed"), (["a"],)),
    "draw": (),
    "neighbours": (["a"],),
    "analogy": ("a", "b", "c"),
    "look": ("a",),
}


def rows_agree_with_classes(trial: Trial) -> None:
    """The classes that the rows name exist, and the verbs in the rows follow from their methods."""
    family, task = trial.family, trial.run.recipe.task
    kind = find_place(FAMILIES[family].way(task).task)
    if not getattr(kind, "MEASURES", ()):
        raise Broken(f"{kind.__name__} does not name its MEASURES")
    if not issubclass(recipe_class(family, task), find_place(FAMILIES[family].way(task).recipe)):
        raise Broken("the class of its recipes is not the one that its row names")
    in_rows, by_methods = {*verbs_of(family, task)}, verbs_by_capabilities(family, task)
    if lacking := sorted(in_rows - by_methods):
        raise Broken(f"its rows give the verb {lacking[0]}, but {kind.__name__} lacks methods that it needs")
    if missing := sorted(by_methods - in_rows):
        raise Broken(f"{kind.__name__} has the methods of the verb {missing[0]}, but its rows do not give it")


def saved_and_watched_are_the_same(trial: Trial) -> None:
    """A model loaded from its folder gives the same measures, and a watched one nearly the same bits."""
    model, run = trial.model, trial.run
    with torch.no_grad():
        if isinstance(run.task, nn.Module):
            # If weights are averaged, the folder has their mean and the task has the last ones.
            load_weights(run.task.eval(), bytes_to_weights((run.folder.folder / WEIGHTS).read_bytes(), WEIGHTS))
        for batch in run.task.batches("valid", 0, 0, 0):
            expected, measured = numbers(run.task.measure(batch)), numbers(model.task.measure(batch))
            if measured != expected:
                refuse_other_numbers(measured, expected, "the loaded model", relative=0.0)
            with watching(model):
                watched = numbers(model.task.measure(batch))
            refuse_other_numbers(watched, expected, "the watched model", relative=1e-5)


def _asked_verbs(trial: Trial) -> list[str]:
    if not trial.inputs:
        raise DoesNotApply("its toy has no inputs")
    return [verb for verb in trial.model.verbs if verb in ASKED]


def watched_answers_the_same(trial: Trial) -> None:
    """A watched model gives the same answers as an unwatched one, with every verb it has."""
    for verb in _asked_verbs(trial):
        expected = plain(ASKED[verb](trial.model, trial.inputs))
        if not expected:
            raise Broken(f"{verb} gives nothing for {trial.inputs[0]!r}")
        with watching(trial.model):
            check_same(plain(ASKED[verb](trial.model, trial.inputs)), expected, f"a watched {verb}")


def together_is_alone(trial: Trial) -> None:
    """An input has the same answer whatever other inputs are given."""
    verbs = [verb for verb in _asked_verbs(trial) if verb in ONE_EACH]
    if not verbs or trial.toy.draws:
        raise DoesNotApply("its answers use random numbers" if trial.toy.draws else "it answers no inputs")
    for verb in verbs:
        together = plain(ASKED[verb](trial.model, trial.inputs))
        for place, example in enumerate(trial.inputs):
            alone = plain(ASKED[verb](trial.model, [example]))
            check_same(together[place], alone[0], f"{verb} of input {place + 1} among others")


def it_is_drawn(trial: Trial) -> None:
    """Its attention can be drawn as a picture, a page, numbers and terminal lines."""
    if "look" not in trial.model.verbs:
        raise DoesNotApply("it has no attention")
    if not trial.inputs:
        raise DoesNotApply("its toy has no inputs")
    view = trial.model.look(trial.inputs[0])
    with TemporaryDirectory() as folder:
        for kind in ("png", "svg", "html", "json"):
            path = view.save(Path(folder) / f"look.{kind}")
            if not path.stat().st_size:
                raise Broken(f"its attention as {kind} is empty")
    if not view.drawing.lines(80, colour=False):
        raise Broken("its attention has no lines for a terminal")
    if not view._repr_html_():
        raise Broken("its attention shows nothing in a notebook")


def refusals_say_what_to_use(trial: Trial) -> None:
    """A verb that it lacks is refused, in Python and at the server, in a sentence that says what to use instead."""
    recipe, model, main_verb = trial.run.recipe, trial.model, TASKS[trial.run.recipe.task].verb
    lacking = [verb for verb in VERBS if verb not in model.verbs]
    if not lacking:
        raise Broken("it claims to have every verb")
    for verb in lacking:
        instead = verb_instead(verb, model.verbs, main_verb)
        for way in (COMMAND, METHOD, ADDRESS):
            sentence = _refusal(partial(needs, recipe, verb, way))
            if f" gives {TASKS[recipe.task].gives}; " not in sentence:
                raise Broken(f"{verb} is refused without saying what the model gives")
            if instead is not None and f"; use {way.format(instead)}. It can train" not in sentence:
                raise Broken(f"{verb} is refused without suggesting {instead}")
        if verb in METHODS and (verb != "look" or main_verb != "generate"):  # a language model shows next tokens
            _refusal(partial(getattr(model, verb), *METHODS[verb]))
    (served,) = open_models([trial.run.folder.folder], "torch")
    for door in verb_doors():
        if door.can and door.can not in served.can and f"it gives {served.gives}" not in str(served.refuse(door.can)):
            raise Broken(f"the server refuses {door.can} without saying what the model gives")


def _refusal(ask: Callable[[], Any]) -> str:
    try:
        ask()
    except Fault as fault:
        return str(fault)
    raise Broken("a verb that it lacks is not refused")

"""`regard average`: the mean of a run's last checkpoints as a separate model."""

from pathlib import Path
from typing import Annotated

import typer

from regard.base.figures import quantity
from regard.console import refuse_existing, remark


def command(
    run: Annotated[Path, typer.Argument(help="A run folder with its checkpoints.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the averaged model.")],
    last: Annotated[int, typer.Option(min=1, help="How many checkpoints to average.")] = 5,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the output folder.")] = False,
) -> None:
    """Average the weights of the last checkpoints of RUN into a new model folder; RUN does not change."""
    from regard.base.faults import Fault
    from regard.engines.folders import MODEL_FOLDER, check_replaceable, whole_folder
    from regard.families import check_recipe
    from regard.families.abilities import needs
    from regard.training import checkpoint

    files = checkpoint.read_folder(run)
    needs(check_recipe(checkpoint.read_recipe(run)), "average")
    if run.resolve() == out.resolve():
        raise Fault(f"{out} is the run itself; write the averaged model elsewhere.")
    check_replaceable(out, MODEL_FOLDER)
    refuse_existing(out, overwrite)
    every = checkpoint.read_recipe(run)["training"]["save_every"]
    folder = checkpoint.RunFolder(run, every=every)
    steps = folder.last_steps(last)
    if not steps:
        raise Fault(f"{run} has no checkpoints to average; it saves one every {quantity(every, 'step')}.")
    weights = folder.mean_of(steps)
    of_weights = (checkpoint.SCORES, checkpoint.CERTAINTY)
    contents = {name: content for name, content in files.items() if name not in of_weights}
    with whole_folder(out, MODEL_FOLDER) as partial:
        checkpoint.update_folder(partial, contents | {checkpoint.WEIGHTS: checkpoint.weights_to_bytes(weights)})
    fewer = f"; there {'is' if len(steps) == 1 else 'are'} only {len(steps)}" if len(steps) < last else ""
    remark(f"{out} is the mean of the checkpoints at {_list_steps(steps)}{fewer}")
    regular, usual = folder.regular_steps(), f"regular checkpoints come every {every} steps"
    if stops := [step for step in steps if step not in regular]:
        remark(f"the run stopped at {_list_steps(stops)}; {usual}")
    if later := [step for step in folder.steps() if step > steps[-1]]:
        remark(f"{_list_steps(later)}, where the run stopped, {'are' if len(later) > 1 else 'is'} left out; {usual}")


def _list_steps(steps: list[int]) -> str:
    return f"step{'s' if len(steps) > 1 else ''} {', '.join(map(str, steps))}"

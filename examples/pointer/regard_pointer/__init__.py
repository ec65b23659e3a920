"""Pointer networks (Vinyals et al. 2015) for regard: the rows that this package adds; no torch is imported here."""

from pathlib import Path

from regard.plugins import Family, Kind, Plugin, Way


def plugin() -> Plugin:
    """Return the rows of this package."""
    family = Family(
        summary="an encoder and a decoder whose outputs point at elements of the input",
        paper="Vinyals et al. 2015, Pointer Networks",
        tasks=("pointing",),
        module="regard_pointer.network",
        model="PointerNetwork",
        options="PointerOptions",
        heads=False,
        toy="regard_pointer.task:TOY",
    )
    learns = Way(
        task="regard_pointer.task:Pointing",
        recipe="regard_pointer.task:PointingRecipe",
        trains="trains on sequences that are generated",
        can=("answer", "look"),
    )
    task = Kind(
        summary="numbers or points become some of them in order: sorted, or their convex hull",
        reads="sequence",
        gives="elements of each sequence, in order",
        verb="answer",
        ways={"gradient": learns},
    )
    recipes = {path.stem: path for path in (Path(__file__).parent / "recipes").glob("*.toml")}
    return Plugin(families={"pointer": family}, tasks={"pointing": task}, recipes=recipes)

"""Members of a stack, as tasks tell of them: their seeds, and that a measure is the mean of theirs."""

from regard.base.recipe import Recipe


def member_seeds(recipe: Recipe) -> range:
    """Return the seed of each member: the recipe's, and those that follow it."""
    return range(recipe.seed, recipe.seed + recipe.training.members)


def outline_members(recipe: Recipe, name: str = "members") -> list[str]:
    """Return a line on how many members are trained side by side; none for a single one."""
    seeds = member_seeds(recipe)
    return [f"{len(seeds)} {name} side by side, seeds {seeds[0]} to {seeds[-1]}"] if len(seeds) > 1 else []


def mean_of(members: int, name: str = "members") -> str:
    """Return how the signature of a measure begins that is the mean of several members."""
    return f"mean of {members} {name}|" if members > 1 else ""

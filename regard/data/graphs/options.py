"""Recipe options for a graph."""

from typing import Self

from pydantic import Field, model_validator

from regard.base.recipe import Options

PLAIN = ("edges", "features", "labels", "split")
PLANETOID = ("planetoid:cora", "planetoid:citeseer")


class GraphData(Options):
    """A graph of the catalogue, or four plain files. Nodes are numbered from 0, and their lines are in that order."""

    graph: str | None = Field(
        None, description="A graph of the data catalogue: 'planetoid:cora' or 'planetoid:citeseer'."
    )
    edges: str | None = Field(None, description="File of edges: the numbers of two nodes on each line.")
    features: str | None = Field(
        None, description="File of features: for each node a line of numbers, separated by tabs, commas or spaces."
    )
    labels: str | None = Field(
        None, description="File of labels: for each node a line with its class, empty where nobody knows it."
    )
    split: str | None = Field(
        None, description="File of splits: for each node a line that says train, valid or test, or is empty."
    )
    directed: bool = Field(
        False, description="Whether the first node of an edge is seen by the second and does not see it."
    )
    normalise: bool = Field(True, description="Whether the features of each node are divided by their sum.")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        given = [name for name in PLAIN if getattr(self, name) is not None]
        if self.graph is not None:
            if given:
                raise ValueError(f"'graph' names a whole graph, so '{given[0]}' cannot be given beside it")
            if self.graph not in PLANETOID:
                raise ValueError(f"graph is {self.graph!r}, expected one of {', '.join(map(repr, PLANETOID))}")
            if self.directed:
                raise ValueError("the graphs of the catalogue have no directions; 'directed' is for a file of edges")
        elif len(given) < len(PLAIN):
            missing = next(name for name in PLAIN if name not in given)
            raise ValueError(f"a graph is either 'graph', or 'edges', 'features', 'labels' and 'split'; no '{missing}'")
        return self

    @property
    def files(self) -> list[str]:
        """The names of the four plain files: edges, features, labels and split."""
        return [getattr(self, name) for name in PLAIN]

    @property
    def name(self) -> str:
        """Name of the graph in reports and faults."""
        return self.graph or str(self.edges)

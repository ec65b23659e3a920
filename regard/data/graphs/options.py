"""Recipe options for a graph."""

from typing import Self

from pydantic import Field, model_validator

from regard.base.recipe import Options

PLAIN = ("edges", "features", "labels", "split")
PLANETOID = ("planetoid:cora", "planetoid:citeseer")


class GraphData(Options):
    """A graph of the catalogue, or four plain files. Nodes are numbered from 0, in the order of their lines."""

    graph: str | None = Field(
        None, description="A graph of the data catalogue: 'planetoid:cora' or 'planetoid:citeseer'."
    )
    edges: str | None = Field(None, description="File of edges: the numbers of two nodes on each line.")
    features: str | None = Field(
        None, description="File of features: one line of numbers for each node, separated by tabs, commas or spaces."
    )
    labels: str | None = Field(
        None, description="File of labels: one line for each node with its class, or empty if unknown."
    )
    split: str | None = Field(
        None, description="File of splits: one line for each node with train, valid or test, or empty."
    )
    directed: bool = Field(
        False, description="Directed edges: the second node of an edge sees the first, but not the other way round."
    )
    normalise: bool = Field(True, description="Divide the features of each node by their sum.")

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        names_given = [name for name in PLAIN if getattr(self, name) is not None]
        if self.graph is not None:
            if names_given:
                raise ValueError(f"'graph' names a whole graph, so omit '{names_given[0]}'")
            if self.graph not in PLANETOID:
                raise ValueError(f"graph is {self.graph!r}, expected one of {', '.join(map(repr, PLANETOID))}")
            if self.directed:
                raise ValueError("the catalogue's graphs have no directions; 'directed' is for a file of edges")
        elif len(names_given) < len(PLAIN):
            missing = next(name for name in PLAIN if name not in names_given)
            raise ValueError(
                f"a graph needs either 'graph', or 'edges', 'features', 'labels' and 'split'; '{missing}' is missing"
            )
        return self

    @property
    def files(self) -> list[str]:
        """Names of the four plain files: edges, features, labels and split."""
        return [getattr(self, name) for name in PLAIN]

    @property
    def name(self) -> str:
        """Name of the graph in reports and faults."""
        return self.graph or str(self.edges)

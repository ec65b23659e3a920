"""Recipe options for classifying the nodes of a graph."""

from typing import Any

from pydantic import Field

from regard.base.recipe import Recipe
from regard.data.graphs.options import GraphData
from regard.training.options import MembersTraining, OptimizerOptions, Precision, ScheduleName, numbers_in


class NodeOptimizer(OptimizerOptions):
    """The optimiser, by default as in Veličković et al. 2018 for Cora and Citeseer."""

    learning_rate: float = Field(default=0.005, gt=0, le=1000, description="The highest learning rate, after warm-up.")
    schedule: ScheduleName = Field(default="constant", description="How the learning rate falls after warm-up.")
    warmup: int = Field(default=0, ge=0, description="Steps in which the learning rate rises from zero.")
    weight_decay: float = Field(default=5e-4, ge=0, description="L2 in the gradient of every weight.")
    clip: float = Field(default=0.0, ge=0, description="Largest norm of a gradient; 0 clips nothing.")


class NodeTraining(MembersTraining):
    """Training options for nodes. A step is an update on all training nodes: an epoch, as papers count it."""

    steps: int = Field(default=1000, ge=1, description="Updates of the weights in the whole run.")
    validate_every: int = Field(default=1, ge=1, description="Steps between validations.")
    patience: int = Field(default=100, ge=0, description="Stop after n validations without a new best; 0: never.")
    precision: Precision = numbers_in("float32")
    optimizer: NodeOptimizer = Field(default_factory=NodeOptimizer, description="The optimiser.")


class NodeRecipe(Recipe):
    """Recipe for node classification: family, graph, model and training."""

    data: GraphData = Field(description="The graph.")
    model: Any = Field(description="The architecture of the model.")
    training: NodeTraining = Field(default_factory=NodeTraining, description="How it is trained.")

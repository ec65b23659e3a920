"""A recipe's graph: read once, then opened from one file."""

from pathlib import Path

from regard.base.files import write_file
from regard.data.graphs.labelled import CLASSES_FILE, GRAPH_FILE, LabelledGraph, open_graph
from regard.data.graphs.options import GraphData
from regard.data.graphs.plain import read_plain
from regard.data.graphs.planetoid import read_planetoid
from regard.data.prepared import make_folder


def read_graph(options: GraphData) -> LabelledGraph:
    """The graph that a recipe names."""
    return read_planetoid(options.graph, options.normalise) if options.graph else read_plain(options)


def is_prepared(folder: Path) -> bool:
    """Whether a graph lies there ready to be opened; its own file is written last."""
    return (folder / GRAPH_FILE).is_file()


def prepare_graph(options: GraphData, folder: Path) -> LabelledGraph:
    """Make the graph of a recipe ready in `folder`, or open it where it is."""
    if is_prepared(folder):
        return open_graph({name: (folder / name).read_bytes() for name in (CLASSES_FILE, GRAPH_FILE)}, str(folder))
    graph = read_graph(options)
    make_folder(folder)
    files = graph.files()
    for name in (CLASSES_FILE, GRAPH_FILE):
        write_file(folder / name, files[name])
    return graph

"""The table of commands, and the commands that are not a question to a model: train, compare, serve and the like.

Verbs take their rows from `regard.verbs.table`. A row names a place and imports nothing.
"""

from regard.verbs.table import ROOMS, Room

SETS_RECIPE = ("train", "distil", "compare")  # commands whose --set changes a recipe
# What people type, in the order of `regard --help`.
COMMANDS: dict[str, Room] = {
    "demo": Room("regard.commands.demo:command", "Train a small translator, score it and draw its attention."),
    "course": Room("regard.commands.course:command", "Learn how attention works in twelve lessons."),
    "train": Room("regard.commands.train:command", "Train a model from a recipe or from text files."),
    "distil": Room("regard.commands.distil:command", "Train a small, fast student of a translator."),
    "translate": ROOMS["translate"],
    "back-translate": Room("regard.commands.back_translate:command", "Make training pairs from text of one language."),
    "answer": ROOMS["answer"],
    "caption": ROOMS["caption"],
    "transcribe": ROOMS["transcribe"],
    "speak": ROOMS["speak"],
    "draw": ROOMS["draw"],
    "embed": ROOMS["embed"],
    "generate": ROOMS["generate"],
    "neighbours": ROOMS["neighbours"],
    "analogy": ROOMS["analogy"],
    "map": ROOMS["map"],
    "evaluate": Room("regard.commands.evaluate:command", "Score a model."),
    "score": Room("regard.commands.score:command", "Score text files, test a difference, work out BLEU."),
    "compare": Room("regard.commands.compare:command", "Train variants of a recipe and compare their scores."),
    "judge": Room("regard.commands.judge.command:command", "Let people judge two outputs blind, and report on it."),
    "look": ROOMS["look"],
    "show": Room("regard.commands.show.command:app", "Draw lessons: gradients, gates, losses, galleries."),
    "heads": Room("regard.commands.heads:command", "Rank attention heads by sharpness, diagonal or alignment."),
    "probe": Room("regard.commands.probe:command", "Probe what each layer knows: tags, number, gender, links."),
    "info": Room("regard.commands.info:command", "Describe a model folder: sizes, scores, cost."),
    "card": Room("regard.commands.card:command", "Write a model card: data, figures, limits, files."),
    "average": Room("regard.commands.average:command", "Average the last checkpoints of a run."),
    "serve": Room("regard.commands.serve:command", "Serve models with a web page and a REST API."),
    "export": Room("regard.commands.export:command", "Write a model for CTranslate2, ONNX or Marian."),
    "import": Room("regard.commands.import_:app", "Import a model from another tool."),
    "recipes": Room("regard.commands.recipes:command", "List the recipes, or print one."),
    "families": Room("regard.commands.families:command", "List the families of models and their papers."),
    "check-family": Room("regard.commands.check_family:command", "Check that a family keeps every promise."),
    "data": Room("regard.commands.data:app", "List data sets and download them."),
    "doctor": Room("regard.commands.doctor:command", "Check the installation and suggest the next command."),
}

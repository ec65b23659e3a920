"""The course: twelve lessons as pages and notebooks in three languages, and the functions that their steps use."""

from regard.course.cells import check, picture, run, trained

__all__ = ["check", "picture", "run", "trained"]

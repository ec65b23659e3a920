"""Models as a service: a page for people and an interface for programs, over the models that are served."""

"""Models as a service: a web page for people and a REST API for programs."""

"""Public data sets: the catalogue, their licences, and how to get them onto this machine."""

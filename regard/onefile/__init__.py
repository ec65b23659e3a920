"""A model in one HTML file: graphs, tokenisers, runtime and page, for a browser without server or network."""

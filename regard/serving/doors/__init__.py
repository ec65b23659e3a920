"""One module for each verb that can be asked of the server, and what its requests and answers hold."""

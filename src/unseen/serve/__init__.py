"""`unseen serve`: a run behind a page and an HTTP API. Needs the extra `serve`."""

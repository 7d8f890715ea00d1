"""One self-contained HTML page about a run; reads what it is given and trains nothing."""

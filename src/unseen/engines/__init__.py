"""Where rows of nodes lie and who works on them: in memory, on disk, on many machines."""

"""Walking the graph: operators, hops, and how far neighbours can be believed. Never sees a label."""

"""Walking the graph: operators and hops. Never sees a label."""

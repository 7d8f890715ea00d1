"""Propagation over the graph: hops in memory and on disk. Never sees a label."""

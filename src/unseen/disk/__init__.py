"""Graphs that do not fit into memory: propagated and answered for, piece by piece."""

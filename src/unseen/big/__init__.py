"""Graphs that do not fit into memory: walked, learned from and answered for, piece by piece."""

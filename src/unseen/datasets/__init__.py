"""Data sets to try things out on: one that every Python carries, and those of the paper."""

from unseen.datasets.export import export
from unseen.datasets.fetch import get
from unseen.datasets.registry import Dataset, load, names

__all__ = ["Dataset", "export", "get", "load", "names"]

"""Models: from hops and class descriptions to scores. One file a method, one contract (base.py)."""

"""The methods that the paper compares with, one file each, under the contract of `Model`.

Only the reproduction of the paper (`unseen.paper`, `results/`) reaches them.
"""

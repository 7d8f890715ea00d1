"""Texts and words into vectors, so that nodes and class descriptions can be compared.

An encoder sees texts only: never the graph, never a label. `base` names the contract and the
encoders there are, `store` keeps what was encoded before, and each other file is one encoder.
"""

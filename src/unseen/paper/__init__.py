"""The paper (DGPN, KDD 2021), table by table and figure by figure, ours beside the print.

Only `unseen reproduce` and `results/` reach this folder.
"""

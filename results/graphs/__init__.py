"""The zoo: text graphs made from packages of public registries, one file a graph (README.md)."""

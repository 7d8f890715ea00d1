"""Drafts of class texts: a template to fill in, or what a language model answers."""

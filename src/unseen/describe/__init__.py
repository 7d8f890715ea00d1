"""Drafts of class texts: a template to fill in, or a language model's answer, kept with its source."""

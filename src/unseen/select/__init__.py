"""Choices without a label of an unseen class: cross-validation, criteria, calibration."""

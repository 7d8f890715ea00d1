"""Class semantic descriptions (CSDs): a vector for what each class is about."""

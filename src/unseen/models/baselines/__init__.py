"""The methods that the paper compares with, one file each, under the contract of `Model`."""

"""`python -m unseen.cli` is `unseen`."""

from unseen.cli import main

if __name__ == "__main__":
    main()

"""`python -m memagent`: the command line."""

from memagent.cli.main import main

if __name__ == "__main__":
    main()

"""`python -m tiepoint` is `tiepoint`."""

from tiepoint.cli import main

if __name__ == "__main__":
    main()

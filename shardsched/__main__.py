"""What ``python -m shardsched`` runs: the command line."""

from __future__ import annotations

from shardsched.cli import main

if __name__ == "__main__":
    main(prog_name="shardsched")

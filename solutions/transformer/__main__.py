"""Run the command line with `python -m transformer`."""

import sys

try:
    from transformer.cli.app import app  # with PyTorch, which takes a while
except KeyboardInterrupt:
    sys.exit(130)  # nothing was begun

if __name__ == "__main__":
    app(prog_name="python -m transformer")

"""Run the command line with `python -m transformer`."""

import sys

try:
    from transformer.cli.app import app  # imports PyTorch, which is slow
except KeyboardInterrupt:
    sys.exit(130)  # nothing has started

if __name__ == "__main__":
    app(prog_name="python -m transformer")

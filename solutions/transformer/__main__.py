"""Run the command line with `python -m transformer`."""

import sys

try:
    from transformer.cli.app import app  # slow, because it imports PyTorch
except KeyboardInterrupt:
    sys.exit(130)  # stop quietly, because nothing has started yet

if __name__ == "__main__":
    app(prog_name="python -m transformer")

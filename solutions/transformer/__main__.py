"""Run the command line with `python -m transformer`."""

from transformer.cli.app import app

if __name__ == "__main__":
    app(prog_name="python -m transformer")

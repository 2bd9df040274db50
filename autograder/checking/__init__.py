"""What a hidden check's author uses: expectations, comparisons, drawn inputs."""

"""Parts that have replaced those of the paper since 2017."""

"""What has taken the place of the paper's parts since 2017."""

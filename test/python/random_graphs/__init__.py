"""Random programs: made from a seed, compared with fp64, and reduced when they fail."""

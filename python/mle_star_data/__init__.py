"""The data plane of mle-star: it answers questions about predictions, as JSON lines. See `mle_star_data.__main__`."""

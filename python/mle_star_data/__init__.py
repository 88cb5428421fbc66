"""The data plane of mle-star, a Python process that reads tables and scores predictions; see `__main__`."""

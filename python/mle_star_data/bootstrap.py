"""The bootstrap of scores: how often each row is drawn in each replicate."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


def mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finalizer of splitmix64: every bit of the input changes half of the bits of the output."""
    with np.errstate(over="ignore"):
        bits = bits + MIX[0]
        bits = (bits ^ (bits >> np.uint64(30))) * MIX[1]
        bits = (bits ^ (bits >> np.uint64(27))) * MIX[2]
    return bits ^ (bits >> np.uint64(31))


def seed(replicate: int) -> NDArray[np.uint64]:
    return mixed(np.array([(replicate + 1) * int(MIX[0]) % 2**64], dtype=np.uint64))


SHARES = np.exp(-1.0) / np.cumprod([1.0, *range(1, 12)])
"""The shares of rows that are drawn never, once and so on: Poisson's distribution with mean 1."""
POISSON = np.searchsorted(np.cumsum(SHARES), (np.arange(2**16) + 0.5) / 2**16).astype(np.uint8)
"""How often a row is drawn, by the first 16 of random bits."""


def draws(units: NDArray[np.uint64], replicates: int, first: int = 0) -> Iterator[NDArray[np.uint8]]:
    """How often each unit is drawn in each replicate. It depends on the unit and the number of the replicate alone,
    so that the replicates of two scripts are paired, whatever rows they share."""
    for replicate in range(first, first + replicates):
        yield POISSON[(mixed(units ^ seed(replicate)) >> np.uint64(48)).astype(np.int64)]

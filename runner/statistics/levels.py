"""The levels of tests and intervals, and how close two figures are equal."""

from __future__ import annotations

from runner.statistics.distributions import normal_quantile

ALPHA = 0.025
"""The level of significance of each side of a test, and of all single cases together."""
LOOK_LEVELS = (0.05, 0.0294, 0.0221, 0.0182, 0.0158)
"""Pocock's two-sided level of each look when 1, 2, ... 5 looks are planned."""
Z = normal_quantile(0.975)
"""Standard errors on each side of a 95 % interval."""
SEEN = Z + normal_quantile(0.8)
"""Standard errors of a difference that is seen four times in five."""
SLACK = 1e-12
"""A probability this far above a level is at it."""
EQUAL = 1e-9
"""Sums of scores this close are equal."""

"""The statistics of change, repeats and judges: pure functions over plain numbers, which know of no report."""

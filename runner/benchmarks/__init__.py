"""`--bench`: measuring benchmarks, and comparing with an earlier run."""

"""Cases of other tools as cases of ours: promptfoo, Inspect, DeepEval; and what has no counterpart."""

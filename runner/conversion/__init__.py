"""Cases of other tools as cases of ours: promptfoo, Inspect, DeepEval, OpenAI evals; and what has no counterpart."""

"""Cases of other tools as cases of ours: promptfoo, Inspect, DeepEval, OpenAI evals. What has no counterpart is said."""

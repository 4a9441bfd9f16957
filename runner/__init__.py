"""The command, and the pipeline from inputs to reports."""

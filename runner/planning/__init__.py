"""From the command line to what will run: inputs, filters, parts, cases, references, and what an earlier run has left.
"""

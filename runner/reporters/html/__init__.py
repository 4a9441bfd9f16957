"""The HTML report: what Python puts into the page (`data`), and the web app that shows it (`src`, built into
`built` by `bindings/build.py`)."""

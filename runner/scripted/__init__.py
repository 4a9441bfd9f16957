"""Models and runners of sandboxes that answer by rules: `replies.yml` and `runner.yml`."""

"""Models that answer by rules, `replies.yml`; and the rules themselves, which runners of sandboxes have, too."""

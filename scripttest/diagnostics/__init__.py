"""Where something happened, in the terms of the user's source: stacks, source maps, callees, loops."""

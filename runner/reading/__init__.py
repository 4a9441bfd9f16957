"""What models say, read: the answer behind their thinking, the JSON in it, and what helper agents answer with it."""

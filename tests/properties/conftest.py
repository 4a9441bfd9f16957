"""Properties: statements that must be true for any input, tested with inputs that hypothesis generates.

The suite tries the same inputs in each run, few enough for a few seconds. To look for new ones, take the profile
`search`, which takes others each time, as many as `YAO_TEST_EXAMPLES` says (1000 for each property by default):

    YAO_TEST_EXAMPLES=20000 .venv/bin/pytest tests/properties --hypothesis-profile=search

Nothing is kept between runs, and nothing written into the checkout: an input that fails is printed, and belongs into the tests as an `@example` or a table row.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, Phase, settings
from hypothesis.configuration import set_hypothesis_home_dir

set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "hypothesis-of-yao-test")

_COMMON = {
    "deadline": None,
    "database": None,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large],
}
_LOOK = (Phase.explicit, Phase.generate)

settings.register_profile("suite", derandomize=True, max_examples=30, phases=(*_LOOK, Phase.shrink), **_COMMON)  # type: ignore[arg-type]
settings.register_profile(
    "search",
    max_examples=int(os.environ.get("YAO_TEST_EXAMPLES", "1000")),
    phases=(*_LOOK, Phase.target, Phase.shrink),
    **_COMMON,  # type: ignore[arg-type]
)
settings.load_profile("suite")

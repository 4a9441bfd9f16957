"""Case files: what they hold, how they are read, which cases run.

This package alone defines pydantic models. To look for plugins, pydantic reads the metadata of every installed
distribution (35 ms at each start); none can matter here, so the search is answered before it begins.
"""

import sys
from types import ModuleType

_plugins = ModuleType("pydantic.plugin._loader")
_plugins.get_plugins = tuple  # type: ignore[attr-defined]
sys.modules.setdefault(_plugins.__name__, _plugins)

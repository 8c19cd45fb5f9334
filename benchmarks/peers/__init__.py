"""The same measurements for what a Python user would take instead of shardsched.

``python -m benchmarks.peers [--quick] [NAME…]``. The peers are installed into a virtual environment of their own below
the temporary folder; this project does not depend on them. Modules of this package that run there import the standard
library and the peer alone.
"""

from __future__ import annotations

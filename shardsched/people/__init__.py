"""Who may use the console, what they did, and what jobs looked like before; kept in the history database.

Plain SQL behind values: nothing here knows of Flask or of HTTP. Users, web sessions and tokens belong to the whole
database; revisions and the audit belong to one namespace.
"""

from __future__ import annotations

from shardsched.people.people import People

__all__ = ["People"]

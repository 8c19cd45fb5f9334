"""Which database history is kept in."""

from __future__ import annotations

import pytest

from shardsched.errors import SettingsError
from shardsched.settings import history_url, state_folder


@pytest.fixture(autouse=True)
def _nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHARDSCHED_HISTORY", raising=False)


@pytest.mark.parametrize(
    ("registry", "history"),
    [
        ("sqlite:///fleet.db", "sqlite:///fleet.history.db"),
        ("sqlite:////var/lib/x/fleet.db", "sqlite:////var/lib/x/fleet.history.db"),
        ("sqlite:///a.b/fleet", "sqlite:///a.b/fleet.history.db"),
        ("sqlite:///~/fleet.db", "sqlite:///~/fleet.history.db"),
    ],
)
def test_history_of_a_registry_in_a_file_is_beside_it(registry: str, history: str) -> None:
    """One machine needs no second setting."""
    assert history_url(None, registry) == history


@pytest.mark.parametrize("registry", ["zk://h1:2181/x", "postgresql://u@h/d", "memory://", "sqlite://"])
def test_history_of_another_registry_is_among_the_state_of_the_user(registry: str) -> None:
    """There is always a place."""
    assert history_url("", registry) == f"sqlite:///{state_folder()}/history.db"


def test_option_goes_before_environment_and_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands nearest is what counts."""
    monkeypatch.setenv("SHARDSCHED_HISTORY", "none")
    assert history_url(None, "sqlite:///fleet.db") == "none"
    assert history_url("postgresql://u:p@h/d", "sqlite:///fleet.db") == "postgresql://u:p@h/d"


@pytest.mark.parametrize("url", ["mysql://user:secret@h/d", "history.db", "NONE", "://", "off"])
def test_unknown_history_is_refused_without_its_password(url: str) -> None:
    """The cure is said, the password is not."""
    with pytest.raises(SettingsError, match=r"sqlite:///history\.db") as caught:
        history_url(url, "sqlite:///fleet.db")
    assert "secret" not in str(caught.value)

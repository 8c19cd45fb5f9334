"""The faults by name: what each does, how it is healed, what was promised, and whether it can be had here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.faults.nemesis_executor import EXECUTOR_FAULTS
from tests.faults.nemesis_history import HISTORY_FAULTS
from tests.faults.nemesis_machine import MACHINE_FAULTS
from tests.faults.nemesis_network import NETWORK_FAULTS
from tests.faults.nemesis_zookeeper import ZOOKEEPER_FAULTS

if TYPE_CHECKING:
    from tests.faults.fault import Fault

FAULTS: dict[str, Fault] = {
    fault.name: fault
    for fault in (*EXECUTOR_FAULTS, *NETWORK_FAULTS, *ZOOKEEPER_FAULTS, *MACHINE_FAULTS, *HISTORY_FAULTS)
}
"""All of them."""

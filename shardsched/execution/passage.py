"""What items ask of the executor and are answered, as the warden passes it on.

An item may be hostile. So a request is copied field by field as far as it has the form that it must have, and only one
of an item is under way at a time: one more is kept until the first is answered, a further one takes its place (who asks
again has been interrupted and waits for nothing else), and none is taken before the last answer was read. What is not
taken gets no answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shardsched.execution.ward import ALIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from shardsched.execution.ward import Ward

    Tell = Callable[[Mapping[str, Any]], None]

MAX_STATE_CHARS = 64 * 1024
"""Longest state passed on; who saves has measured it in bytes already (`core.checkpoint.MAX_STATE_BYTES`)."""
_MAX_NUMBER = 2**53
_ANSWER_FIELDS = ("number", "state", "error", "message")


def pass_asks(ward: Ward, messages: Sequence[Mapping[str, Any]], tell: Tell) -> None:
    """Pass on what a process asks among the messages that it sent."""
    for message in messages:
        if message.get("type") != "ask" or not _is_sound(message):
            continue
        if ward.channel is None or ward.channel.has_unsent or ward.phase not in ALIVE:
            continue
        ward.next_ask = {name: message.get(name) for name in ("number", "what", "state")}
        if not ward.is_asking:
            _ask(ward, tell)


def _is_sound(message: Mapping[str, Any]) -> bool:
    number, what, state = message.get("number"), message.get("what"), message.get("state")
    is_state = state is None or (isinstance(state, str) and len(state) <= MAX_STATE_CHARS)
    return type(number) is int and 0 < number < _MAX_NUMBER and what in ("load", "save") and is_state


def _ask(ward: Ward, tell: Tell) -> None:
    if ward.next_ask is not None:
        request, ward.next_ask, ward.is_asking = ward.next_ask, None, True
        tell({"type": "asked", "run": ward.run} | request)


def give_answer(ward: Ward, message: Mapping[str, Any], tell: Tell) -> None:
    """Give a process the executor's answer, and pass on what it has asked meanwhile."""
    ward.is_asking = False
    if ward.channel is not None:
        ward.channel.send({"type": "answer"} | {name: message[name] for name in _ANSWER_FIELDS if name in message})
    _ask(ward, tell)

"""Crontabs."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from shardsched.core.setting import new_job
from shardsched.jobfile import Form, Wish, parse_jobs
from shardsched.jobfile.crontab import command_word
from tests.jobfile.test_native import NOW

if TYPE_CHECKING:
    from shardsched.jobfile import Entry, Parsed

USER = """\
# Edit this file to introduce tasks to be run by cron.
# m h  dom mon dow   command
SHELL=/bin/sh
MAILTO=ops@example.org
 PATH = "/opt/bin:/usr/bin"
CRON_TZ=Europe/Paris
0 3 * * * /opt/shop/backup.sh --full

# Poll the feeds
*/5 8-18 * * mon-fri cd /srv/app && LANG=C python3 -m app.poll --limit 10\\%
# 0 4 * * * /opt/old.sh
@daily\t/opt/shop/backup.sh
@reboot /opt/shop/warm-up
CRON_TZ=Asia/Tokyo
HOME=/var/lib/shop
0 0 1 * * clean
61 * * * * never
what is this
"""

SYSTEM = """\
# /etc/crontab: system-wide crontab
# m h dom mon dow user	command
17 *	* * *	root	cd / && run-parts --report /etc/cron.hourly
-*/10 * * * * www-data php /srv/cron.php
* * * * * root
"""


def crontab(text: str, *, is_system: bool | None = None) -> Parsed:
    """A crontab's jobs."""
    return parse_jobs(text, Wish(form=Form.CRONTAB, is_system=is_system))


def only(text: str) -> Entry:
    """The one job of a crontab."""
    parsed = crontab(text, is_system=False)
    assert parsed.refusals == ()
    (entry,) = parsed.entries
    return entry


def test_user_crontab_entries_become_shell_jobs() -> None:
    """Each entry has its line, a name of its own, its schedule, its zone and its environment."""
    entries = {entry.name: entry for entry in crontab(USER).entries}
    assert list(entries) == ["backup", "Poll-the-feeds", "backup-2", "clean", "never"]
    assert [entry.place for entry in entries.values()] == ["line 7", "line 10", "line 12", "line 16", "line 17"]
    assert entries["backup"].settings == {
        "handler": "@shell",
        "cron": "0 3 * * *",
        "timezone": "Europe/Paris",
        "task": {"shell": "/opt/shop/backup.sh --full", "env": {"PATH": "/opt/bin:/usr/bin"}},
    }
    poll = entries["Poll-the-feeds"].settings
    assert poll["task"]["shell"] == "cd /srv/app && LANG=C python3 -m app.poll --limit 10%"
    assert poll["description"] == "Poll the feeds"
    assert (entries["backup-2"].settings["cron"], "description" in entries["backup-2"].settings) == ("@daily", False)
    clean = entries["clean"].settings
    assert (clean["timezone"], clean["task"]["cwd"], clean["task"]["env"]["HOME"]) == (
        "Asia/Tokyo",
        "/var/lib/shop",
        "/var/lib/shop",
    )


def test_user_crontab_what_is_not_taken_is_told() -> None:
    """@reboot, a line that is none, and variables without a like are told with their line."""
    parsed = crontab(USER)
    assert [(refusal.name, refusal.place) for refusal in parsed.refusals] == [("warm-up", "line 13"), ("", "line 18")]
    assert "@reboot" in parsed.refusals[0].reason
    assert [(remark.what, remark.place) for remark in parsed.remarks] == [("MAILTO", "line 4")]


def test_system_crontab_is_found_out_and_its_users_told() -> None:
    """The column of users is seen by the heading, is no part of the command, and is told."""
    parsed = crontab(SYSTEM)
    assert {entry.name: entry.settings["task"]["shell"] for entry in parsed.entries} == {
        "run-parts": "cd / && run-parts --report /etc/cron.hourly",
        "cron": "php /srv/cron.php",
    }
    assert [entry.settings["cron"] for entry in parsed.entries] == ["17 * * * *", "*/10 * * * *"]
    users = [(remark.name, remark.reason) for remark in parsed.remarks if remark.what == "user"]
    assert users == [
        ("run-parts", "it runs as the executor's user, not as root"),
        ("cron", "it runs as the executor's user, not as www-data"),
    ]
    assert [refusal.place for refusal in parsed.refusals] == ["line 5"]


@pytest.mark.parametrize(
    ("text", "is_system", "command"),
    [
        ("0 3 * * * root /bin/a", None, "/bin/a"),
        ("0 3 * * * python3 /opt/a.py", None, "python3 /opt/a.py"),
        ("0 3 * * * root /bin/a", False, "root /bin/a"),
        ("0 3 * * * shop\t/bin/a", True, "/bin/a"),
    ],
)
def test_crontab_user_column_is_guessed_only_where_it_is_plain(text: str, is_system: bool | None, command: str) -> None:
    """Without a heading only the known users of every system are taken for users, unless told otherwise."""
    (entry,) = crontab(text, is_system=is_system).entries
    assert entry.settings["task"]["shell"] == command


def test_crontab_without_zone_says_how_times_are_read() -> None:
    """Users of cron mean the machine's zone, which no two executors need share."""
    assert [remark.what for remark in crontab("0 3 * * * a").remarks] == ["timezone"]
    assert crontab("TZ=:Europe/Paris\n0 3 * * * a").entries[0].settings["timezone"] == "Europe/Paris"


@pytest.mark.parametrize(
    ("rest", "output"),
    [
        ("cat%one%two", "one\ntwo\n"),
        ("cat%", ""),
        ("cat # shown%100\\%%$HOME `id`", "100%\n$HOME `id`\n"),
        ("cat; echo end%END_OF_INPUT%x", "END_OF_INPUT\nx\nend\n"),
        ("printf '%s' x | cat", ""),
        ("printf '\\%s' \"it's\"", "it's"),
    ],
)
def test_crontab_percent_gives_input(rest: str, output: str) -> None:
    """What follows a bare % is what the command reads, to the letter; an escaped one is a %."""
    line = only(f"0 3 * * * {rest}").settings["task"]["shell"]
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.stdout == output


def test_crontab_shell_runs_the_command() -> None:
    """Another shell than /bin/sh runs the command, whatever quotes it holds."""
    entry = only("SHELL=/bin/bash\n0 3 * * * a=(1 2 3); echo \"${a[1]}\" 'it is'")
    done = subprocess.run(
        ["/bin/sh", "-c", entry.settings["task"]["shell"]], capture_output=True, text=True, check=True
    )
    assert done.stdout == "2 it is\n"


@pytest.mark.parametrize(
    ("command", "word"),
    [
        ("/usr/bin/flock -n /tmp/l /opt/sync.sh", "l"),
        ("nice -n 10 ionice -c3 /opt/sync", "sync"),
        ("[ -x /usr/bin/certbot ] && certbot renew", "certbot"),
        ("bash -c 'echo hi'", "echo"),
        ("", ""),
        ("sudo -u x", "x"),
        ("sh", "sh"),
    ],
)
def test_command_word_is_the_program(command: str, word: str) -> None:
    """A job is named by the program it runs, not by what starts it."""
    assert command_word(command) == word


@pytest.mark.parametrize("line", ["H 3 * * * a", "0~30 3 * * * a", "0 3 * * 9 a", "@every a", "@reboots a"])
def test_crontab_schedule_that_is_none_is_refused_when_planned(line: str) -> None:
    """What our cron does not know is refused by the same check as everywhere."""
    entry = only(line)
    with pytest.raises(ValueError, match="cron expression"):
        new_job(entry.name, "u", entry.settings, NOW)

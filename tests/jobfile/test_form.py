"""Which form a file has, and what is asked of all its jobs."""

from __future__ import annotations

import pytest

from shardsched.jobfile import Form, Wish, parse_jobs
from tests.jobfile.test_elasticjob import RECORD

NATIVE = """\
format: 1
jobs:
  books: {handler: crawl, cron: "@daily", after: [shop, far]}
  shop: {handler: "@shell", cron: "@daily", timezone: Europe/Paris}
"""


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (NATIVE, "shardsched"),
        ('\ufeff {"format": 1}'.lstrip("\ufeff"), "shardsched"),
        ("---\nformat: 1\n", "shardsched"),
        ("# a\n\n0 3 * * * a", "crontab"),
        ("MAILTO=x\n0 3 * * * a", "crontab"),
        ("@daily a", "crontab"),
        (RECORD, "elasticjob"),
        ("elasticjob: {jobs: {}}", "elasticjob"),
        ('{"elasticjob": {"jobs": {}}}', "elasticjob"),
        ('[{"jobDesc": "a", "glueType": "BEAN"}]', "xxl-job"),
        ("id,job_desc,schedule_conf\n1,a,b", "xxl-job"),
    ],
)
def test_form_is_found_out(text: str, form: str) -> None:
    """What a file holds says what it is; its name need not."""
    assert parse_jobs(text, Wish()).form == form


def test_wish_changes_all_jobs() -> None:
    """A handler stands in for code only, a zone where none is named, and a prefix also where jobs name each other."""
    wish = Wish(form=Form.YAML, handler="mine", timezone="Asia/Tokyo", prefix="old-")
    books, shop = parse_jobs(NATIVE, wish).entries
    assert (books.name, shop.name) == ("old-books", "old-shop")
    assert (books.settings["handler"], shop.settings["handler"]) == ("mine", "@shell")
    assert (books.settings["timezone"], shop.settings["timezone"]) == ("Asia/Tokyo", "Europe/Paris")
    assert books.settings["after"] == ["old-shop", "far"]


def test_wish_prefix_is_on_what_is_told_too() -> None:
    """Remarks and refusals name the jobs as they would be called."""
    parsed = parse_jobs("@reboot a\n@daily root b\n", Wish(prefix="old-", is_system=True))
    assert [refusal.name for refusal in parsed.refusals] == ["old-cron-1"]
    assert [remark.name for remark in parsed.remarks] == ["", "old-b"]

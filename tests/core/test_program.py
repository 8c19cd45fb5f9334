"""What a run puts into its task, and the program that it becomes."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shardsched.core.placeholder import PLACEHOLDERS, fill, in_json, in_url, names_in
from shardsched.core.program import program_of, run_values
from shardsched.core.secret import HIDDEN, looks_secret, shown_task, shown_url
from shardsched.core.task import GIVEN_VARIABLES
from tests.strategies import texts

FIELDS = {
    "job": "backup",
    "item": 1,
    "items": 4,
    "param": "a; touch MARKER",
    "job_param": "{param} $(id)\n-rf",
    "fire_time": "2026-01-01T00:00:00+00:00",
    "run_id": "r1",
    "attempt": 2,
    "cause": "retry",
    "fencing_token": 7,
    "executor": "e1",
}
HOSTILE = texts() | st.sampled_from(["{job_param}", "; rm -rf /", "$(id)", "\n", '"', "%00", "/../", "a&b=c", "#"])


def test_program_gets_its_run_in_words_and_variables() -> None:
    """Placeholders are filled within their word, and never looked at again; other braces stay."""
    task = {
        "argv": ["copy", "--to={item}/{items}", "{param}", "{job_param}", "{print $1}", "{itme}"],
        "env": {"LANG": "C"},
    }
    program = program_of(task, FIELDS, {"PATH": "/bin", "LANG": "en"})
    assert program.argv == [
        "copy", "--to=1/4", "a; touch MARKER", "{param} $(id)\n-rf", "{print $1}", "{itme}"
    ]  # fmt: skip
    environment = program.environment
    assert (environment["PATH"], environment["LANG"]) == ("/bin", "C")
    assert environment["SHARDSCHED_PARAM"] == "a; touch MARKER"
    assert environment["SHARDSCHED_ATTEMPT"] == "2"
    assert {name: environment[name] for name in GIVEN_VARIABLES}.keys() == set(GIVEN_VARIABLES)
    assert all(environment[name] for name in GIVEN_VARIABLES)
    assert (program.folder, program.ok_codes) == ("", [0])


def test_line_of_a_shell_is_left_as_it_is() -> None:
    """A parameter cannot become code of the shell: the line has no placeholders."""
    program = program_of({"shell": "echo {param} $SHARDSCHED_PARAM", "cwd": "/tmp", "ok_codes": [0, 2]}, FIELDS, {})
    assert program.argv == ["/bin/sh", "-c", "echo {param} $SHARDSCHED_PARAM"]
    assert (program.folder, program.ok_codes) == ("/tmp", [0, 2])


@given(HOSTILE, HOSTILE)
def test_word_count_of_a_program_never_depends_on_parameters(param: str, job_param: str) -> None:
    """Whatever a parameter holds, it stays within its word."""
    fields = FIELDS | {"param": param, "job_param": job_param}
    program = program_of({"argv": ["x", "-{param}-", "{job_param}"]}, fields, {})
    assert program.argv == ["x", f"-{param}-", job_param]


@given(HOSTILE)
def test_value_in_a_url_stays_one_part_of_it(value: str) -> None:
    """A parameter can change neither host nor path nor add a query field."""
    url = fill("https://shop.example/shelf/{param}/x?q={param}&z=1", {"param": value}, in_url)
    parts = urlsplit(url)
    assert parts.hostname == "shop.example"
    assert parts.path.count("/") == 3
    assert parse_qs(parts.query, keep_blank_values=True) == {"q": [value], "z": ["1"]}


@given(HOSTILE)
def test_value_in_json_stays_within_its_quotes(value: str) -> None:
    """A JSON body stays the same document but for the value."""
    assert json.loads(fill('{"shelf": "{param}", "n": [1]}', {"param": value}, in_json)) == {"shelf": value, "n": [1]}


def test_placeholders_are_those_of_the_context() -> None:
    """Each has a value in a run, and a text's own are found."""
    assert set(run_values(FIELDS)) == set(PLACEHOLDERS)
    assert names_in("{item}{nothing}{run_id}") == {"item", "run_id"}
    assert fill("{item}", {}) == ""


@pytest.mark.parametrize(
    "name",
    ["Authorization", "cookie", "Set-Cookie", "X-Api-Key", "PGPASSWORD", "access_token", "client-secret", "apikey"],
)
def test_name_of_a_secret_is_known(name: str) -> None:
    """Values under such names are not shown."""
    assert looks_secret(name)


def test_task_is_shown_without_its_secrets() -> None:
    """Headers, variables and query fields with names of secrets are hidden; the rest is as it is."""
    task = {
        "url": "https://shop.example/x?a=1&token=abc&b=2#token=x",
        "headers": {"Authorization": "Bearer abc", "Accept": "text/html"},
        "env": {"DB_PASSWORD": "abc", "LANG": "C", "DB": "postgresql://me:abc@db/shop"},
        "argv": ["x"],
    }
    shown = shown_task(task)
    assert "abc" not in json.dumps(shown)
    assert shown["headers"] == {"Authorization": HIDDEN, "Accept": "text/html"}
    assert shown["env"] == {"DB_PASSWORD": HIDDEN, "LANG": "C", "DB": f"postgresql://me:{HIDDEN}@db/shop"}
    assert shown["url"].startswith("https://shop.example/x?a=1&token=***&b=2")
    assert shown["argv"] == ["x"]
    assert shown_url("https://shop.example/") == "https://shop.example/"
    assert shown_task({"url": 3}) == {"url": 3}

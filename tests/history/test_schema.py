"""The tables are made once, by whoever comes first, and are what the code takes them for."""

from __future__ import annotations

import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import MetaData, inspect, select, update

import shardsched.history
from shardsched.errors import HistorySchemaError, HistoryUnavailableError, SettingsError
from shardsched.history.engine import Database
from shardsched.history.schema import HEAD, VERSION
from shardsched.history.table import METADATA, RUNS
from shardsched.registry.sql_dialect import WRITES
from tests.history.stage import NAMESPACE, make_end, run_record, store


def test_migrations_make_the_tables_that_the_code_knows(database: Database) -> None:
    """No column, index or table differs, and each index has its condition."""
    with database.reading() as connection:
        # The console's people are in the same database, and tried elsewhere.
        ours = {"include_name": lambda name, kind, _: kind != "table" or name in METADATA.tables}
        context = MigrationContext.configure(connection, opts={"version_table": VERSION.name, **ours})
        assert compare_metadata(context, METADATA) == []
        for table in METADATA.sorted_tables:
            made = {index["name"]: index for index in inspect(connection).get_indexes(table.name)}
            known = {index.name: index for index in table.indexes}
            assert made.keys() == known.keys()
            for name, index in known.items():
                assert made[name]["column_names"] == [column.name for column in index.columns]
                conditional = index.dialect_options[connection.dialect.name]["where"] is not None
                options = made[name].get("dialect_options", {})
                assert bool(options.get(f"{connection.dialect.name}_where") is not None) == conditional


def test_head_is_the_last_migration() -> None:
    """A new step without a new version would never be taken."""
    scripts = ScriptDirectory(str(Path(shardsched.history.__file__).parent / "migrations"))
    assert scripts.get_heads() == [HEAD]


def test_tables_of_an_older_release_are_upgraded_with_their_rows(url: str, database: Database) -> None:
    """By the first that meets them; what was in them stays."""
    older = Database(url)
    engine = older._dialect.connect()
    script = str(Path(shardsched.history.__file__).parent / "migrations")
    with engine.connect().execution_options(**{WRITES: True}) as connection, connection.begin():
        config = Config()
        config.set_main_option("script_location", script)
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        values = run_record(make_end(1)).values
        connection.execute(RUNS.insert(), {"namespace": NAMESPACE, **values})
    engine.dispose()
    store(database, [run_record(make_end(1, "failed")), run_record(make_end(2))])
    assert database.version() == HEAD
    with database.reading() as connection:
        found = connection.execute(select(RUNS.c.run_id, RUNS.c.outcome).order_by(RUNS.c.run_id)).all()
    assert found == [(make_end(1).run_id, "ok"), (make_end(2).run_id, "ok")]


def test_tables_of_a_newer_release_are_left_alone(database: Database) -> None:
    """Also by one that had been connected before they were upgraded."""
    store(database, [run_record(make_end(1))])
    with database.writing() as connection:
        connection.execute(update(VERSION).values(version_num="9999"))
    with pytest.raises(HistorySchemaError, match=r"version '9999'.*upgrade"):
        store(database, [run_record(make_end(2))])
    database.close()
    with pytest.raises(HistorySchemaError, match="'9999'"):
        database.prepare()


def test_tables_that_went_are_made_again(database: Database) -> None:
    """Somebody cleared the database: the write fails once, and the next one finds tables."""
    database.prepare()
    with database.writing() as connection:
        everything = MetaData()
        everything.reflect(connection)
        everything.drop_all(connection)
    with pytest.raises(HistorySchemaError):
        store(database, [run_record(make_end(1))])
    store(database, [run_record(make_end(1))])


def test_reader_of_finished_tables_writes_nothing(database: Database, url: str) -> None:
    """Whoever only reads needs no permission to write."""
    database.prepare()
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).chmod(0o400)
    reader = Database(url)
    with reader.reading() as connection:
        assert connection.execute(RUNS.select()).all() == []
    reader.close()


def test_file_and_its_log_are_for_their_owner_alone(sqlite_url: str) -> None:
    """Output of runs may hold secrets; the folder is made too."""
    database = Database(sqlite_url)
    store(database, [run_record(make_end(1))])
    folder = Path(sqlite_url.removeprefix("sqlite:///")).parent
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
    assert modes == {"history.db": 0o600, "history.db-wal": 0o600, "history.db-shm": 0o600}
    database.close()


def test_file_that_was_deleted_is_made_again(sqlite_url: str) -> None:
    """Rows do not go on into a file that nobody can see any more."""
    database = Database(sqlite_url)
    store(database, [run_record(make_end(1))])
    for path in Path(sqlite_url.removeprefix("sqlite:///")).parent.iterdir():
        path.unlink()
    store(database, [run_record(make_end(2))])
    other = Database(sqlite_url)
    with other.reading() as connection:
        assert connection.execute(RUNS.select()).mappings().one()["run_id"] == make_end(2).run_id
    other.close()
    database.close()


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "mysql://h/d", "history.db", "postgresql://h:port/d"]
)
def test_url_that_names_no_database_is_refused(url: str) -> None:
    """At once, since no waiting would help."""
    with pytest.raises(SettingsError):
        Database(url)


def test_database_that_is_away_is_an_error_of_its_own(tmp_path: Path) -> None:
    """With where it is and why, and without the password."""
    (tmp_path / "folder.db").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "other.db").write_bytes(b"this is no database, whatever its name says" * 100)
    urls = {
        "postgresql://u:secret@127.0.0.1:1/d": "127.0.0.1",
        f"sqlite:///{tmp_path / 'folder.db'}": "folder.db",
        f"sqlite:///{tmp_path / 'file' / 'x.db'}": "cannot be made",
    }
    for url, told in urls.items():
        with pytest.raises(HistoryUnavailableError, match=told) as caught:
            Database(url).prepare()
        assert "secret" not in str(caught.value)
    with pytest.raises(HistorySchemaError, match=r"other\.db"):
        Database(f"sqlite:///{tmp_path / 'other.db'}").prepare()


def test_threads_wait_for_a_database_that_is_away_together() -> None:
    """Not one after the other, each for as long as a connection takes to fail."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        database = Database(f"postgresql://u@127.0.0.1:{silent.getsockname()[1]}/d?connect_timeout=2")
        together = threading.Barrier(8)

        def ask() -> None:
            together.wait(10)
            database.prepare()

        with ThreadPoolExecutor(8) as pool:
            asked = [pool.submit(ask) for _ in range(8)]
            assert all(isinstance(one.exception(60), HistoryUnavailableError) for one in asked)
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()

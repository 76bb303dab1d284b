"""The real product in separate processes: web server, worker, a database of its own.

    def test_it_survives(live_project):
        project = live_project()
        project.kill_tree("worker")
        project.start_worker()
        ...

The test's own ORM works on the live database as long as the test runs.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from tests.support import processes
from tests.support.wait import wait_until

ROOT = Path(__file__).resolve().parents[2]
ONE_WORKER = ("--workers", "1", "--threads", "8")
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "PYTHONWARNINGS")


class LiveProject:
    """One installation in a folder of its own. Deadlines are in seconds."""

    def __init__(
        self, folder: Path, database_url: str, env: Mapping[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.database_url = database_url
        self.mailbox = folder / "mail"
        self._token = secrets.token_hex(8)
        self._socket = _listening_socket()
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.env = self._environment() | dict(env or {})

    def _environment(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return kept | {
            "DJANGO_SETTINGS_MODULE": "agentops.settings",
            # The same as the test's: tasks it sends are signed with it.
            "SECRET_KEY": os.environ.get("SECRET_KEY", "of-a-live-test"),
            "DATABASE_URL": self.database_url,
            "EMAIL_FILE_PATH": str(self.mailbox),
            "AGENTOPS_VAR": str(self.folder / "var"),
            "AGENTOPS_BASE_URL": self.url,
            "AGENTOPS_UNDO_IRREVERSIBLE_S": "0",
            "PYTHONUNBUFFERED": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
            processes.TOKEN: self._token,
        }

    # Commands

    def manage(
        self, *args: str, timeout_s: float = 60.0, check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run `manage.py` to its end; a failure raises with what it printed."""
        done = subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *args],
            env=self.env,
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(
                f"manage.py {' '.join(args)} ended with {done.returncode}:\n"
                f"{done.stdout}{done.stderr}"
            )
        return done

    # Processes

    def start_web(
        self, *, timeout_s: float = 30.0, options: Sequence[str] = ONE_WORKER
    ) -> None:
        """Start gunicorn and wait until it answers."""
        bind = f"fd://{self._socket.fileno()}"
        gunicorn = [sys.executable, "-m", "gunicorn", "agentops.wsgi", "--bind", bind]
        argv = [*gunicorn, *options, "--graceful-timeout", "2"]
        self._start("web", argv, pass_fds=[self._socket.fileno()])
        self._wait("web", lambda: self.status("/healthz") < 500, timeout_s)

    def start_worker(self, *, timeout_s: float = 30.0) -> None:
        """Start `manage.py worker` and wait until a driver is at work.

        `/readyz` says so where the web server runs; else the first sign is a
        cluster with its children.
        """
        process = self.launch_worker()
        if "web" in self._running:
            self._wait("worker", lambda: self.status("/readyz") == 200, timeout_s)
        else:
            self._wait(
                "worker", lambda: len(processes.tree(process.pid)) > 3, timeout_s
            )

    def launch_worker(self) -> subprocess.Popen[bytes]:
        """Start `manage.py worker` and do not wait for it."""
        manage = [sys.executable, str(ROOT / "manage.py"), "worker"]
        return self._start("worker", manage)

    def process(self, name: str) -> subprocess.Popen[bytes]:
        return self._running[name]

    def start(self, name: str, *argv: str) -> subprocess.Popen[bytes]:
        """Start any other command of this installation, as itself, in background."""
        return self._start(name, list(argv))

    def runs(self, name: str) -> bool:
        return name in self._running and self._running[name].poll() is None

    def pid(self, name: str) -> int:
        return self._running[name].pid

    def tree(self, name: str) -> list[psutil.Process]:
        """The named process and its descendants, parents first."""
        return processes.tree(self.pid(name))

    def survivors(self) -> list[psutil.Process]:
        """All living processes of this installation, orphans too."""
        return processes.marked(self._token)

    def terminate(self, name: str, *, timeout_s: float = 15.0) -> int:
        """SIGTERM to the named process alone; its exit code when it has ended."""
        process = self._running[name]
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout_s)
        del self._running[name]
        return code

    def kill_tree(self, name: str, signal_number: int = signal.SIGKILL) -> None:
        """Signal the whole tree at once; after SIGKILL the name is free again."""
        process = self._running[name]
        processes.kill(self.tree(name), signal_number)
        if signal_number == signal.SIGKILL:
            process.wait(5)
            del self._running[name]

    def stop(self) -> None:
        """End all of it; nothing of this installation is alive afterwards."""
        processes.kill_marked(self._token)
        for process in self._running.values():
            process.wait(5)
        self._running.clear()
        self._socket.close()

    # Looking in

    def status(self, path: str) -> int:
        """The status that a GET of the path is answered with; 599 for no answer."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=5) as answer:  # noqa: S310
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        except OSError:
            return 599

    def log(self, name: str) -> str:
        """All that the named process has printed so far."""
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def mails(self) -> list[str]:
        """The messages of the mailbox as they were sent, oldest first."""
        files = sorted(self.mailbox.glob("*.eml"), key=lambda f: f.stat().st_mtime_ns)
        return [file.read_text(errors="replace") for file in files]

    def _start(
        self, name: str, argv: list[str], pass_fds: list[int] | None = None
    ) -> subprocess.Popen[bytes]:
        if self.runs(name):
            raise AssertionError(f"{name} runs already")
        process = processes.start(
            argv,
            env=self.env,
            cwd=ROOT,
            log=self.folder / f"{name}.log",
            pass_fds=pass_fds or (),
        )
        self._running[name] = process
        return process

    def _wait(self, name: str, is_ready: Callable[[], bool], timeout_s: float) -> None:
        process = self._running[name]

        def answered() -> bool:
            if process.poll() is not None:
                raise AssertionError(f"{name} ended at once:\n{self.log(name)}")
            return is_ready()

        try:
            wait_until(answered, timeout_s=timeout_s, what=f"{name} being ready")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log(name)[-4000:]}") from None


def model_at(base_url: str) -> dict[str, str]:
    """What tells an installation to ask the model at that address."""
    return {
        "AGENTOPS_PROVIDER": "openai",
        "OPENAI_API_KEY": "sk-test",
        "OPENAI_BASE_URL": base_url,
    }


def _listening_socket() -> socket.socket:
    """Bound here and handed on, so that no other process can take the port."""
    listening = socket.create_server(("127.0.0.1", 0), backlog=128)
    listening.set_inheritable(True)
    return listening

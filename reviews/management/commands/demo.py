"""`manage.py demo`: the whole product on this machine, with samples to play with."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import sys
import threading
import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections

from agentops.mail import kept_in
from reviews import children, samples
from reviews.children import Child
from reviews.samples import people
from runs import health

READY_S = 60.0
STOP_S = 12.0
LOOK_S = 0.2
# What has ended so often within a minute would end again.
DEATHS, MINUTE_S = 3, 60.0
EVERYWHERE = {"0.0.0.0", "::", ""}  # noqa: S104 - looked for, not bound


class Command(BaseCommand):
    help = (
        "Runs web server and worker with sample agents and three sign-ins. "
        "Ctrl-C stops all of it; the data stays."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--host", default="127.0.0.1")

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        self.stopping = threading.Event()
        listening = _listen(host, port)
        url = _url(host, listening)
        try:
            password = self._install()
        except DatabaseError as error:
            raise CommandError(f"The database cannot be used: {_line(error)}") from None
        web, worker = _children(host, url, listening)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        try:
            web.start()
            worker.start()
            if self._wait_until_ready(web, url):
                self._welcome(url, password)
                self._watch([web, worker])
        finally:
            children.stop([worker, web], within_s=STOP_S)
            listening.close()
        self.stdout.write("Stopped. The data is kept for the next time.")

    # What there is to begin with

    def _install(self) -> str:
        if health.unapplied_migrations():
            self.stdout.write("Setting up the database ...")
            call_command("migrate", verbosity=0, interactive=False)
        if people.is_of_somebody(settings.VAR_DIR):
            raise CommandError(
                "This database has people of its own, and the demo lets anybody in. "
                "Give it another one (DATABASE_URL)."
            )
        password = people.password_of(settings.VAR_DIR)
        people.install_people(password)
        samples.install()
        connections.close_all()
        return password

    def _wait_until_ready(self, web: Child, url: str) -> bool:
        """Until a page comes; False if a stop was asked for first."""
        while not self.stopping.is_set():
            if web.code is not None:
                raise CommandError(f"The web server {web.end()}.")
            if web.lived_s > READY_S:
                raise CommandError(f"No page came from {url} within {READY_S:g} s.")
            if _answers(url):
                return True
            self.stopping.wait(LOOK_S)
        return False

    def _welcome(self, url: str, password: str) -> None:
        model = (
            "the demo model, offline; set OPENAI_API_KEY to use a real one"
            if settings.AGENTOPS_PROVIDER == "demo"
            else f"{settings.OPENAI_MODEL} at {settings.OPENAI_BASE_URL}"
        )
        self.stdout.write(
            f"\nagentops is at {url}\n\n"
            f"  Sign in   {', '.join(people.SIGN_INS)} (password {password})\n"
            f"  Model     {model}\n"
            f"  Mail      {url}/demo/mail/ (kept in {kept_in()}, never sent)\n"
            "  Stop      Ctrl-C\n"
        )
        self.stdout.flush()

    # While it runs

    def _watch(self, running: list[Child]) -> None:
        """Start anew what dies, unless it keeps dying: then stop all."""
        while not self.stopping.wait(LOOK_S):
            for child in running:
                if child.code is not None:
                    self._start_anew(child)

    def _start_anew(self, child: Child) -> None:
        end = child.end()
        now = time.monotonic()
        recent = [at for at in child.ended_at if now - at < MINUTE_S]
        child.ended_at = [*recent, now]
        if len(child.ended_at) >= DEATHS:
            raise CommandError(f"The {child.name} {end}, once too often.")
        self.stderr.write(f"The {child.name} {end}. Starting it again.")
        child.start()

    def _on_signal(self, number: int, frame: Any) -> None:
        """The first one stops in order, the second one at once."""
        if self.stopping.is_set():
            os._exit(128 + number)
        self.stopping.set()


def _line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]


def _listen(host: str, port: int) -> socket.socket:
    """Take the port before anything starts, and keep it for the web server."""
    try:
        taken = socket.create_server((host, port), backlog=128)
    except (OSError, OverflowError) as error:
        code = getattr(error, "errno", None)
        reason = os.strerror(code) if code and code > 0 else str(error)
        raise CommandError(
            f"Port {port} of {host} cannot be used ({reason.lower()}). "
            "Choose another with --port (make demo ARGS='--port 8001')."
        ) from None
    taken.set_inheritable(True)
    return taken


def _url(host: str, listening: socket.socket) -> str:
    shown = "127.0.0.1" if host in EVERYWHERE else host
    return f"http://{shown}:{listening.getsockname()[1]}"


def _children(host: str, url: str, listening: socket.socket) -> tuple[Child, Child]:
    env = _environment(host, url)
    fd = listening.fileno()
    gunicorn = [sys.executable, "-m", "gunicorn", "agentops.wsgi"]
    gunicorn += ["--bind", f"fd://{fd}", "--worker-class", "gthread"]
    gunicorn += ["--workers", "1", "--threads", "8"]
    gunicorn += ["--graceful-timeout", "2", "--log-level", "warning"]
    gunicorn += ["--no-control-socket"]
    manage = [sys.executable, str(settings.BASE_DIR / "manage.py"), "worker"]
    root = settings.BASE_DIR
    return (
        Child("web server", gunicorn, env, root, pass_fds=[fd]),
        Child("worker", manage, env, root),
    )


def _environment(host: str, url: str) -> dict[str, str]:
    """The demo's own word on mail and addresses; all else as it is set."""
    hosts = ["*"] if host in EVERYWHERE else [*settings.ALLOWED_HOSTS, host]
    return (
        {"AGENTOPS_LOG_LEVEL": "WARNING"}
        | dict(os.environ)
        | {
            "DJANGO_SETTINGS_MODULE": "agentops.settings",
            "AGENTOPS_DEMO": "1",
            "AGENTOPS_BASE_URL": url,
            "AGENTOPS_NOTIFY_EVERY_MEDIUM_S": "0",
            "AGENTOPS_HTTPS": "0",
            "SECURE_SSL_REDIRECT": "0",
            "ALLOWED_HOSTS": ",".join(hosts),
            "EMAIL_BACKEND": "agentops.mail.FileBackend",
            "EMAIL_FILE_PATH": str(kept_in()),
        }
    )


def _answers(url: str) -> bool:
    """Does the sign-in page come?"""
    host = url.removeprefix("http://")
    connection = http.client.HTTPConnection(host, timeout=1)
    try:
        connection.request("GET", "/accounts/login/")
        return connection.getresponse().status < 500
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()

"""The world outside: a file, a mail server and an HTTP server that count effects."""

from __future__ import annotations

#!/usr/bin/env python
"""Django's command line for this project."""

from __future__ import annotations

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as wrong:
        # Of the deployment, not of the code: its words say all.
        sys.exit(str(wrong))


if __name__ == "__main__":
    main()

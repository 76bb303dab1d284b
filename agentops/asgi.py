"""The ASGI application, for servers that speak ASGI."""

from __future__ import annotations

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentops.settings")

application = get_asgi_application()

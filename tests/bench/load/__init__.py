"""Fifty people at the desk while five hundred runs advance: `make loadtest`.

    python -m tests.bench.load --people 50 --runs 500 --seconds 300

`site` is an installation as docs/deploy.md describes it, on a PostgreSQL of its own;
`model` answers its runs after some seconds, as a provider does; `people` are a process
of their own that reads, polls and decides over HTTP, as browsers do; `proof` compares
what they were told with the rows and with the mails that arrived; `figures` is the
table. Ends with 1 if anything went wrong or was too slow.
"""

from __future__ import annotations

"""What is taken out of errors beyond what is taken out of other texts.

Endpoints quote keys cut short or starred out, and an error loses nothing with a digest.
"""

from __future__ import annotations

import re

from agentops.redaction.shapes import PASSWORD, SECRET, TOKEN, Rule

SHORTEST = 4
"""A secret that is known to have been sent may be as short as this."""


def _rule(kind: str, pattern: str) -> Rule:
    """One that is tried on every error: these are short, and few."""
    return Rule(kind, ("",), re.compile(pattern, re.VERBOSE | re.DOTALL))


RULES: tuple[Rule, ...] = (
    _rule(PASSWORD, r"://(?P<secret>[^/\s:@]*:[^/\s@]+)@"),
    _rule(TOKEN, r"\b(?i:bearer|basic)\s+(?P<secret>[A-Za-z0-9+/._~=-]{6,})"),
    _rule(
        SECRET,
        r"""
        (?i:api[-_ ]?key|access[-_ ]?token|secret|password|passwd|authorization)
        ["']?(?:\s+(?i:provided))?\s*[:=]\s*["']?
        (?P<secret>[^\s"',;&<>\[]{4,})
        """,
    ),
    _rule(
        SECRET,
        r"""
        (?P<secret>
          \b(?:sk|pk|rk|gsk|xai|nvapi|hf|glpat|ghp|gho|ghs|ghu|github_pat|npm)[-_]
            [A-Za-z0-9*._-]{6,}
        | \bxox[a-z]-[A-Za-z0-9-]{8,}
        | \b(?:AKIA|ASIA)[A-Z0-9]{12,}
        | \bAIza[A-Za-z0-9_-]{20,}
        | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?
        | -----BEGIN[A-Z ]*PRIVATE[ ]KEY-----.*?(?:-----END[A-Z ]*KEY-----|$)
        | \b[0-9a-f]{32,}\b
        )
        """,
    ),
)

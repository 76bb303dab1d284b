"""Characters that nobody sees, or that change what is seen: parts of character classes.

One alphabet for the log, for pages, for mails and for what is compared. Each is the
inside of `[…]` in a regular expression.
"""

from __future__ import annotations

CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"
"""But tab and line feed, which texts of several lines are made of."""
LINE_ENDS = "\u2028\u2029"
TURNING = "\u202a-\u202e\u2066-\u2069"
"""These turn the direction of what a person reads."""
STEERING = f"\t\n{CONTROL}{LINE_ENDS}{TURNING}"
"""What no single line may hold."""

UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2060-\u206f"
    "\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef"
    f"{TURNING}"
)
"""They take no room and mean nothing to a reader."""
BLANK = "\u2800"
"""It takes room, and looks as if nothing were there."""
EMOJI = "\ufe0f"
"""It makes a sign a picture, and is as common as those are."""

"""Markdown becomes HTML in which nothing runs and nothing loads."""

from __future__ import annotations

import pytest

from agentops.markdown import MAX_CHARACTERS, to_html


def test_it_renders_what_agents_write() -> None:
    html = to_html(
        "# Q3\n\n| a | b |\n|---|--:|\n| 1 | **2** |\n\n- x\n- [y](https://y.example/)"
    )

    for part in (
        "<h1>Q3</h1>",
        '<td class="num"><strong>2</strong></td>',
        "<li>x</li>",
    ):
        assert part in html
    assert 'href="https://y.example/"' in html
    assert 'rel="noopener noreferrer nofollow"' in html
    assert "style=" not in html


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "<javascript:alert(1)>",
        "![x](https://evil.example/pixel.png)",
        '[x](https://e.example/"onmouseover="alert(1))',
        "<a href='javascript:alert(1)'>x</a>",
        "[x]: javascript:alert(1)\n[x]",
    ],
)
def test_s01_nothing_runs_or_loads(text: str) -> None:
    html = to_html(text)

    assert "<script" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html.lower()
    assert 'href="data' not in html
    assert " onmouseover=" not in html
    assert "<a href='" not in html


def test_very_long_text_is_cut() -> None:
    html = to_html("x" * (MAX_CHARACTERS + 1))

    assert "<p>…</p>" in html
    assert len(html) < MAX_CHARACTERS + 100


def test_deep_nesting_does_no_harm() -> None:
    assert to_html(">" * 10_000 + "[" * 10_000)

"""Promises that every plug-in keeps."""

from __future__ import annotations

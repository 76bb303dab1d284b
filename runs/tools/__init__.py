"""The tools that agents may call: one file each, found by `registry`."""

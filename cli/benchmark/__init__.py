"""Measuring parsers: transcripts in a parser's own grammar, whether they read back, what a chunk costs, how it grows.

Owns no options and no parsing. ``commands/bench.py`` is its only user.
"""

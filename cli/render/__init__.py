"""Writing: parsed values in, lines out. Nothing here reads input or knows a grammar."""

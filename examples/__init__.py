"""Jobs to read and to try; ``shardsched demo`` shows them at work."""

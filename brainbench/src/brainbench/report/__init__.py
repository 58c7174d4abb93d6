"""A scoreboard as people and programs read it: terminal, Markdown, the v1 result document, the v2 scoreboard."""

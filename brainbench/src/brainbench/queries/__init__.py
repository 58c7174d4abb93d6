"""Real questions, asked again: do they still bring the same pages, or the right ones?

What people asked of a memory is captured there, published as a baseline (`files`), asked again of the memory as it is
now (`replaying`) and judged (`judging`). `qrels` reads questions with their right pages.
"""

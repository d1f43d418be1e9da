"""What is kept, and where. Knows nothing of agents, models or prompts.

``records`` is the vocabulary, ``base`` the contracts, ``sql``, ``chroma`` the implementations.
"""

"""The agent: the loop, sessions, the built-in toolbox, and the facade over them."""

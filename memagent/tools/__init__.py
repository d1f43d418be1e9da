"""What a tool is: a typed function with a docstring; its schema, validation and running."""

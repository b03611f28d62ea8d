"""What a tool is: definitions, protocols and compiled toolsets."""

"""Tool calls as text: options, manuals, histories and answers. No API is known here."""

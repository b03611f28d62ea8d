"""What each API sends and answers, and how its conversations are stored."""

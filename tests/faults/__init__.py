"""Bad input, damage and interruptions, as tables: each ends in one sentence or is handled (`make faults`)."""

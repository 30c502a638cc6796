"""One file per set of instructions: its name, how it is stored, where it comes from, how to make it up."""

"""One file per text data set: its name, how it is stored, where it comes from, how to make it up."""

"""One file per video data set: its name, how it is laid out, where it comes from, how to make it up."""

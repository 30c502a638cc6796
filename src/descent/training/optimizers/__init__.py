"""What steps the weights of a stack: one file, one word of params.yaml."""

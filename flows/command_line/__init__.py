"""What `nilm` does at the command line: commands, terminal, Ctrl-C, and the two servers it starts."""

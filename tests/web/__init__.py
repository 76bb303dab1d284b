"""What holds at every address: who may do what, which answers come, and what stays."""

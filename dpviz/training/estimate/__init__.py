"""What leaves say and what a model is worth, estimated from rows held out at random from growing."""

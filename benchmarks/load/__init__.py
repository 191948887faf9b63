"""Many people on one server: how long they wait for a tree."""

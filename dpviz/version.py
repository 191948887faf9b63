"""The version of dpviz."""

VERSION = "0.1.0"

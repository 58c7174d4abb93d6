"""The daemon: it keeps a memory open and answers hooks and programs over a unix socket."""

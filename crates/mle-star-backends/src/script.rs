//! Python environments and the processes that run scripts.

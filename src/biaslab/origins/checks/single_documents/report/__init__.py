"""Tables and figures of the single documents."""

"""How far the ranking of documents depends on the seeds."""

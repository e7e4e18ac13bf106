"""Plan a run: configuration, sources, units, rules, steps and jobs."""

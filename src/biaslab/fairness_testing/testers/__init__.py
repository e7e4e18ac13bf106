"""The testers, and what they share: the check for discrimination and the trail of what was tried."""

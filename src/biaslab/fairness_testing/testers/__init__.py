"""The testers with their shared check for discrimination and trail of visits."""

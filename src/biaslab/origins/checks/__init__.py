"""Checks of the reliability of attributions: each check is a folder with its analysis and its report."""

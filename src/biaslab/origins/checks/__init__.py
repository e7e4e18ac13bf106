"""Whether attributions can be believed: each check is a folder with its analysis and its report."""

"""What a setup runs: its analyses, sets and trainings, and what they are counted by."""

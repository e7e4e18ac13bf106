"""Documents that are planted to be found."""

"""How few documents flip the sign of a bias."""

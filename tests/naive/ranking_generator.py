"""Slow, literal oracle of the generator of rankings (Yang and Stoyanovich 2017, Algorithm 1)."""


def ranking_by_coins(protected, other, fairness, coins):
    """Take from the two queues, one coin (a number from 0 to 1) a place, until one is empty."""
    protected, other, coins, ranking = list(protected), list(other), list(coins), []
    while protected and other:
        ranking.append(protected.pop(0) if coins.pop(0) < fairness else other.pop(0))
    return ranking + protected + other

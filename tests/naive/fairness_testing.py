"""Slow, literal oracles of fairness testing (Zhang et al. 2021), word by word from the text."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import scipy.integrate
import scipy.optimize


def is_discriminatory(label_of, x, domain, columns):
    """Definition 2.1: some other combination of protected values gets another label."""
    return any(label_of(other) != label_of(x) for other in protected_variants(x, domain, columns))


def protected_variants(x, domain, columns):
    """The sample with every combination of protected values, the last column's values running fastest."""
    ranges = [range(domain.low[c], domain.high[c] + 1) for c in columns]
    for values in itertools.product(*ranges):
        other = list(x)
        for column, value in zip(columns, values, strict=True):
            other[column] = value
        yield other


def count_trail(samples, discriminatory, columns):
    """#GDiff and #ID: sets of tuples without the protected attributes."""
    generated, found = set(), set()
    for x, is_found in zip(samples, discriminatory, strict=True):
        key = tuple(int(v) for i, v in enumerate(x) if i not in columns)
        generated.add(key)
        if is_found:
            found.add(key)
    return len(generated), len(found)


# ADF: Zhang et al. 2021, Algorithms 1 to 4 and 7 to 9, one sample at a time; switches as in `adf.Settings`.


def adf_answer(model, x):
    """Label and output vector of one sample."""
    batch = np.array([x], np.int32)
    return int(model.labels(batch)[0]), model.probabilities(batch)[0]


def adf_gradient(model, x, label, settings):
    gradient = model.input_gradients(np.array([x], np.int32), np.array([label]))[0].tolist()
    return [0.0 if settings.subnormal_is_zero and abs(g) < 2.0**-126 else g for g in gradient]


def adf_clip(x, domain):
    return [min(max(v, int(low)), int(high)) for v, low, high in zip(x, domain.low, domain.high, strict=True)]


def adf_with(x, columns, values):
    other = list(x)
    for column, value in zip(columns, values, strict=True):
        other[column] = int(value)
    return other


def adf_values(domain, columns):
    return list(itertools.product(*(range(domain.low[c], domain.high[c] + 1) for c in columns)))


def adf_check(model, x, columns, all_values):
    """The first protected values that flip the label of x; None where none does."""
    label = adf_answer(model, x)[0]
    for values in all_values:
        if adf_answer(model, adf_with(x, columns, values))[0] != label:
            return values
    return None


def adf_global_direction(s, t, columns, draw, signs_twice):
    """Algorithm 3 for the signs s of x's gradient and t of its partner's."""
    d = len(s)
    free = [a for a in range(d) if a not in columns]
    if not any(s):
        chosen = list(t)
    elif not any(t):
        chosen = list(s)
    elif signs_twice:
        chosen = [float(s[a] == t[a]) for a in range(d)]
    else:
        chosen = [s[a] if s[a] == t[a] else 0 for a in range(d)]
    chosen = [0 if a in columns else chosen[a] for a in range(d)]
    if not any(chosen):
        chosen[free[int(draw[0] * len(free))]] = 1 if signs_twice or draw[1] < 0.5 else -1
    return [c * sign for c, sign in zip(chosen, s, strict=True)] if signs_twice else chosen


def adf_global(model, x, domain, columns, draws, settings, max_iter=10):
    """Algorithm 1 for one seed: samples checked, whether the last is one, and its partner's values."""
    if settings.enumerated is None:
        all_values = adf_values(domain, columns)
    else:
        all_values = [(v,) for v in range(settings.enumerated[0], settings.enumerated[1] + 1)]
    x = adf_clip(x, domain) if settings.clip_seeds else [int(v) for v in x]
    checked = []
    for iteration in range(max_iter + 1):
        checked.append(list(x))
        partner = adf_check(model, x, columns, all_values)
        if partner is not None:
            return checked, True, partner
        if iteration == max_iter:
            break
        label, outputs = adf_answer(model, x)
        largest, values = (0 if settings.value_below_domain else -1), (-1,) * len(columns)
        for other in all_values:
            if list(other) != [x[c] for c in columns]:
                difference = abs(adf_answer(model, adf_with(x, columns, other))[1][label] - outputs[label])
                if difference > largest:
                    largest, values = difference, other
        s = [float(np.sign(g)) for g in adf_gradient(model, x, label, settings)]
        x_other = adf_with(x, columns, values)
        t = [float(np.sign(g)) for g in adf_gradient(model, x_other, label, settings)]
        direction = adf_global_direction(s, t, columns, draws[iteration], settings.signs_twice)
        x = adf_clip([v + int(step) for v, step in zip(x, direction, strict=True)], domain)
    return checked, False, None


def adf_weights(model, x, partner, columns, settings):
    """Algorithm 8 before the normalisation; where saliencies are zero, these attributes share all."""
    label = adf_answer(model, x)[0]
    other = adf_with(x, columns, partner)
    g = adf_gradient(model, x, label, settings)
    h = adf_gradient(model, other, adf_answer(model, other)[0] if settings.own_labels else label, settings)
    saliency = [abs(a) + abs(b) for a, b in zip(g, h, strict=True)]
    free = [a for a in range(len(x)) if a not in columns]
    if any(saliency[a] == 0 for a in free):
        weights = {a: float(saliency[a] == 0) for a in free}
    else:
        weights = {a: 1 / saliency[a] for a in free}
    return weights


def adf_first_step(model, x, domain, columns, settings):
    """Where a seed is moved first, the chance of each attribute to be next, and which steps are finds."""
    checked, is_found, _ = adf_global(model, x, domain, columns, [(0.0, 0.0)] * 10, settings)
    if is_found and len(checked) == 1:
        return None  # discriminatory before any step
    moved, all_values = checked[1], adf_values(domain, columns)
    partner = adf_check(model, moved, columns, all_values)
    if partner is None:
        return moved, None, None, None
    weights = adf_weights(model, moved, partner, columns, settings)
    shares = [weights.get(a, 0.0) / sum(weights.values()) for a in range(len(x))]
    found = [
        [
            adf_check(model, adf_clip(adf_with(moved, [a], [moved[a] + way]), domain), columns, all_values)
            is not None
            for a in range(len(x))
        ]
        for way in (-1, 1)
    ]
    return moved, shares, *found


def adf_step(model, x, partner, domain, columns, way, side, settings):
    """Algorithms 8 and 9: one attribute, one unit, either way."""
    weights = adf_weights(model, x, partner, columns, settings)
    below, total = 0.0, 0.0
    for weight in weights.values():
        total += weight
    chosen = None
    for attribute, weight in weights.items():
        chosen = attribute
        below += weight
        if below > way * total:
            break
    moved = list(x)
    moved[chosen] += 1 if side < 0.5 else -1
    return adf_clip(moved, domain)


def adf_local(model, x, partner, domain, columns, draws, settings):
    """Algorithm 7 for one start without negative neighbours: samples visited, and what the check says."""
    all_values = adf_values(domain, columns)
    x = [int(v) for v in x]
    flips = adf_check(model, x, columns, all_values)
    visited = [(x, flips is not None)]
    is_found = flips is not None
    for way, side, chance in draws:
        if not settings.fixed_partner and is_found:
            partner = flips
        y = adf_step(model, x, partner, domain, columns, way, side, settings)
        flips_y = adf_check(model, y, columns, all_values)
        visited.append((y, flips_y is not None))
        if flips_y is not None or not is_found or chance < settings.acceptance:
            x, flips, is_found = y, flips_y, flips_y is not None
    return visited


def adf_basinhopping(model, x, partner, domain, columns, draws, settings):
    """The local phase as the authors run it: SciPy's basin hopping with L-BFGS-B and finite differences.

    Returns every sample that the energy was asked for, in order, and what the check says of it.
    """
    all_values = adf_values(domain, columns)
    asked = []
    hops = iter(draws)
    chance = [0.0]

    def energy(values):
        sample = [int(v) for v in values]  # truncates, as astype("int") does
        asked.append((sample, adf_check(model, sample, columns, all_values) is not None))
        return 0.0 if asked[-1][1] else 1.0

    def take_step(values):
        way, side, chance[0] = next(hops)
        sample = [int(v) for v in values]
        return np.array(adf_step(model, sample, partner, domain, columns, way, side, settings), float)

    def metropolis(f_new, x_new, f_old, x_old):
        return "force accept" if math.exp(min(0.0, f_old - f_new)) > chance[0] else False

    scipy.optimize.basinhopping(
        energy,
        np.array(x, float),
        niter=len(draws),
        T=1.0,
        take_step=take_step,
        accept_test=metropolis,
        minimizer_kwargs={"method": "L-BFGS-B"},
    )
    return asked


# EIDIG: Zhang, Zhang and Zhang 2021 (ISSTA), one sample at a time, as their public code does it.


def eidig_gradient(model, x):
    """The gradient of the probability of the label that x gets."""
    label, outputs = adf_answer(model, x)
    loss = model.input_gradients(np.array([x], np.int32), np.array([label]))[0]
    return [-float(outputs[label]) * float(g) for g in loss]


def eidig_farthest(model, x, columns, all_values, own_partner):
    """The sample with the protected values whose output is farthest from that of x."""
    label, outputs = adf_answer(model, x)
    largest, partner = (0 if own_partner else -1), list(x)
    for values in all_values:
        other = adf_with(x, columns, values)
        difference = abs(adf_answer(model, other)[1][label] - outputs[label])
        if other != list(x) and difference > largest:
            largest, partner = difference, other
    return partner


def eidig_global(model, x, domain, columns, settings, max_iter=10):
    """Samples checked, and whether the last one is discriminatory."""
    all_values = adf_values(domain, columns)
    x = adf_clip(x, domain)
    momentum, other_momentum = [0.0] * len(x), [0.0] * len(x)
    checked = []
    for iteration in range(max_iter + 1):
        if iteration == max_iter and not settings.checks_last:
            break
        checked.append(list(x))
        if adf_check(model, x, columns, all_values) is not None:
            return checked, True
        partner = eidig_farthest(model, x, columns, all_values, settings.own_partner)
        new, other_new = eidig_gradient(model, x), eidig_gradient(model, partner)
        for a in range(len(x)):
            momentum[a] = settings.decay * momentum[a] + new[a]
            other_momentum[a] = settings.decay * other_momentum[a] + other_new[a]
        y = list(x)
        for a in range(len(x)):
            if a not in columns and np.sign(momentum[a]) == np.sign(other_momentum[a]):
                y[a] = x[a] - int(np.sign(momentum[a]))
        x = adf_clip(y, domain)
    return checked, False


def eidig_chances(model, x, partner, columns):
    """The chance of every attribute to be moved; 0 of the protected ones."""
    g, h = eidig_gradient(model, x), eidig_gradient(model, partner)
    chances = [0.0 if a in columns else 1 / (abs(g[a]) + abs(h[a]) + 1e-6) for a in range(len(x))]
    return [chance / sum(chances) for chance in chances]


def eidig_pick(chances, number):
    """The first attribute with which the sum of chances exceeds a uniform number."""
    below = 0.0
    for a, chance in enumerate(chances):
        below += chance
        if below > number:
            return a
    return max(a for a, chance in enumerate(chances) if chance)


def eidig_local(model, x, domain, columns, draws, settings):
    """Samples visited, and what the check says, from one discriminatory sample."""
    all_values = adf_values(domain, columns)
    start = list(x)
    visited = [(start, True)]
    partner = eidig_farthest(model, start, columns, all_values, own_partner=False)
    first_chances = eidig_chances(model, start, partner, columns)
    x, chances, n_steps = list(start), first_chances, 0
    for way, side, which in draws:
        if settings.update_interval is not None and n_steps >= settings.update_interval:
            label = adf_answer(model, x)[0]
            others = [adf_with(x, columns, values) for values in all_values]
            others = [other for other in others if adf_answer(model, other)[0] != label]
            chances = eidig_chances(model, x, others[int(which * len(others))], columns)
            n_steps = 0
        n_steps += 1
        x = list(x)
        x[eidig_pick(chances, way)] += 1 if side < 0.5 else -1
        x = adf_clip(x, domain)
        is_found = adf_check(model, x, columns, all_values) is not None
        visited.append((x, is_found))
        if not is_found:
            x, chances, n_steps = list(start), first_chances, 0
    return visited


# Symbolic generation: Zhang et al. 2021, Section 4.3, and the rules of the authors' published code.
# A constraint is (attribute, "<=" or ">", limit, confidence).


def gini(labels):
    return 1 - sum(Fraction(count, len(labels)) ** 2 for count in Counter(labels).values())


def best_splits(X, labels, rows):
    """The attributes whose purest split is as pure as any, each with its lowest such limit."""
    best = {}
    for attribute in range(len(X[0])):
        values = sorted({X[row][attribute] for row in rows})
        for below, above in itertools.pairwise(values):
            limit = math.floor(Fraction(below + above, 2))
            sides = [
                [labels[r] for r in rows if (X[r][attribute] <= limit) == left] for left in (True, False)
            ]
            impurity = sum(Fraction(len(side), len(rows)) * gini(side) for side in sides)
            if attribute not in best or impurity < best[attribute][0]:
                best[attribute] = impurity, limit
    least = min((impurity for impurity, _ in best.values()), default=None)
    return [(attribute, limit) for attribute, (impurity, limit) in best.items() if impurity == least]


def explanation_branch(X, labels, draws):
    """The branch of row 0 in an unpruned tree; a node's number chooses one of its equally pure attributes."""
    rows, path = list(range(len(X))), []
    while len({labels[row] for row in rows}) > 1:
        equal = best_splits(X, labels, rows)
        if not equal:
            break
        attribute, limit = equal[int(draws[len(path)] * len(equal))]
        left = [row for row in rows if X[row][attribute] <= limit]
        left_confidence = len(left) / len(rows)
        if 0 in left:
            path.append((attribute, "<=", limit, left_confidence))
            rows = left
        else:
            path.append((attribute, ">", limit, 1.0 - left_confidence))
            rows = [row for row in rows if row not in left]
    return path


def negate_constraint(constraint):
    attribute, sign, limit, confidence = constraint
    return attribute, ">" if sign == "<=" else "<=", limit, 1.0 - confidence


def solve_constraints(constraints, x, domain, choice):
    """Try all samples of the domain that differ from x in the attributes of the constraints alone."""
    attributes = sorted({attribute for attribute, *_ in constraints})
    solutions = []
    for values in itertools.product(*(range(domain.low[a], domain.high[a] + 1) for a in attributes)):
        solution = list(x)
        for attribute, value in zip(attributes, values, strict=True):
            solution[attribute] = value
        if all((solution[a] <= limit) == (sign == "<=") for a, sign, limit, _ in constraints):
            solutions.append(solution)
    if not solutions:
        return None
    target = x if choice == "nearest" else [0] * len(x)
    return min(solutions, key=lambda solution: sum(abs(solution[a] - target[a]) for a in attributes))


def average_confidence(constraints):
    return np.mean([confidence for *_, confidence in constraints])


def symbolic_children(x, found, path, protected, solved, solve, local=True, global_=True):
    """New samples as (rank, sample): first those of the local, then those of the global search."""
    children = []

    def try_to_solve(constraints, to_solve, rank):
        if constraints not in solved:
            solved.append(constraints)
            solution = solve(to_solve, x)
            if solution is not None:
                children.append((rank, solution))

    if found and local:
        for i, constraint in enumerate(path):
            if constraint[0] not in protected:
                constraints = [*path[:i], negate_constraint(constraint), *path[i + 1 :]]
                same = [c for c in constraints if c[0] == constraint[0]]
                try_to_solve(constraints, same, 1 + average_confidence(constraints))
    prefix = []
    for constraint in path:
        if not global_ or constraint[0] in protected:
            continue
        if constraint[3] < 0.3:
            break
        constraints = [*prefix, negate_constraint(constraint)]
        try_to_solve(constraints, constraints, 10 - average_confidence(constraints))
        prefix.append(constraint)
    return children


def symbolic_search(seeds, limit, protected, settings, is_found, explain, solve, local=True, global_=True):
    """One list of waiting samples; returns (sample, found, rank) of each one explored; seeds have rank 5."""
    arrivals = itertools.count()
    waiting = [(5, list(x), next(arrivals)) for x in seeds]
    taken, solved, explored, generated, step, globals_turn = [], [], [], [], 0, False
    while waiting and len(generated) < limit and len(taken) < 10 * limit + 10:

        def precedence(entry, globals_turn=globals_turn):
            rank, x, order = entry
            if not settings.global_last and globals_turn:
                rank = rank - 6 if rank >= 9 else rank  # between local ones and seeds
            return rank, x if settings.lexicographic_ties else [], order

        entry = min(waiting, key=precedence)
        waiting.remove(entry)
        rank, x, _ = entry
        globals_turn = globals_turn if rank <= 2 else rank == 5
        kept = [v for a, v in enumerate(x) if a not in protected]
        if kept in explored and not settings.repeats:
            continue
        explored.append(kept)
        path = explain(x, step)
        step += 1
        found = is_found(x)
        if (settings.counts_seeds or rank != 5) and kept not in generated:
            generated.append(kept)
        taken.append((x, found, rank))
        for child_rank, child in symbolic_children(x, found, path, protected, solved, solve, local, global_):
            waiting.append((child_rank, child, next(arrivals)))
    return taken


# AEQUITAS: Zhang et al. 2021, Section 4.3, and the published code, whose quirks are switches.


def aequitas_check(label_of, x, domain, columns):
    """The first protected values that get another label; the sample's own where none do."""
    for other in protected_variants(x, domain, columns):
        if label_of(other) != label_of(x):
            return [other[c] for c in columns]
    return [x[c] for c in columns]


def aequitas_walks(label_of, starts, domain, columns, draws, settings):
    """All walks in turn: (number of the start, sample, is it discriminatory) of every visit.

    A hop uses four of the numbers drawn: attribute, direction, direction at a bound, acceptance.
    """
    d = len(domain.names)
    perturbable = [i for i in range(d) if settings.perturb_protected or i not in columns]
    param_probability = [1 / len(perturbable) if i in perturbable else 0.0 for i in range(d)]
    direction_probability = [0.5] * d
    visits = []

    def visit(number, x):
        result = aequitas_check(label_of, x, domain, columns)
        found = result != [x[c] for c in columns]
        visits.append((number, list(x), found))
        for i in range(d):
            if settings.negative_neighbours and x[i] < 0:
                near = [int(v + 1e-8) if j == i else v for j, v in enumerate(x)]
                near_result = aequitas_check(label_of, near, domain, columns)
                visits.append((number, near, near_result != [near[c] for c in columns]))
        energy = not any(v != 0 for v in result) if settings.falsy_energy else not found
        return found, energy

    for number, start in enumerate(starts):
        x = [int(v) for v in start]
        _, energy = visit(number, x)
        for u in draws[number]:
            total = 0.0
            for param in range(d):
                total += param_probability[param]
                if u[0] < total:
                    break
            direction = -1 if u[1] < direction_probability[param] else 1
            if x[param] in (domain.low[param], domain.high[param]):
                direction = -1 if u[2] < 0.5 else 1
            new = list(x)
            new[param] = int(min(max(x[param] + direction, domain.low[param]), domain.high[param]))
            success, new_energy = visit(number, new)
            if (success and direction == -1) or (not success and direction == 1):
                direction_probability[param] = min(direction_probability[param] + 0.001, 1)
            else:
                direction_probability[param] = max(direction_probability[param] - 0.001, 0)
            if success:
                param_probability[param] += 0.001
            else:
                param_probability[param] = max(param_probability[param] - 0.001, 0)
            total = 0.0
            for p in param_probability:
                total += p
            param_probability = [p / total for p in param_probability]
            w = min(1.0, math.exp(-(new_energy - energy))) if settings.metropolis else 1.0
            if w >= u[3]:
                x, energy = new, new_energy
    return visits


# Retraining: Zhang et al. 2021, RQ4, with the rules that the module states.


def majority_label(probabilities_of, x, domain, columns, n_classes):
    """The most frequent label over the protected values; of equally frequent ones the likeliest."""
    ranges = [range(domain.low[c], domain.high[c] + 1) for c in columns]
    votes, sums, n = Counter(), [0.0] * n_classes, 0
    for values in itertools.product(*ranges):
        other = list(x)
        for column, value in zip(columns, values, strict=True):
            other[column] = value
        p = [float(v) for v in probabilities_of(other)]
        votes[p.index(max(p))] += 1
        sums = [s + v for s, v in zip(sums, p, strict=True)]
        n += 1
    return max(range(n_classes), key=lambda label: (votes[label], sums[label] / n))


def most_votes(votes):
    """The label that most give, the least of several."""
    return max(sorted(set(votes)), key=list(votes).count)

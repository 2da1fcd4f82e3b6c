"""Slow, plain versions of every kernel: what the fast ones are tested against."""

import itertools

import numpy as np
from scipy.spatial.distance import cdist

from clusterforests._utils.random import stream


def centroids(X, labels, k, weights):
    return np.array([np.average(X[labels == c], axis=0, weights=weights[labels == c]) for c in range(k)])


def within(X, labels, weights=None):
    """Sum of squared distances to the centroids."""
    weights = np.ones(len(X)) if weights is None else weights
    total = 0.0
    for c in np.unique(labels):
        rows, w = X[labels == c], weights[labels == c]
        total += float((w[:, None] * (rows - np.average(rows, axis=0, weights=w)) ** 2).sum())
    return total


def between(X, labels, weights=None):
    weights = np.ones(len(X)) if weights is None else weights
    mean = np.average(X, axis=0, weights=weights)
    total = 0.0
    for c in np.unique(labels):
        w = weights[labels == c]
        total += float(w.sum() * ((np.average(X[labels == c], axis=0, weights=w) - mean) ** 2).sum())
    return total


def pair_sums(X, labels):
    """Sums of squared distances over pairs within clusters and between clusters."""
    apart = cdist(X, X, "sqeuclidean")
    together = labels[:, None] == labels[None, :]
    return apart[together].sum() / 2, apart[~together].sum() / 2


def best_move_gain(X, labels, k, weights=None):
    """The largest share of the objective that moving a single row to another cluster would gain (<= 0: none)."""
    weights = np.ones(len(X)) if weights is None else weights
    mass = np.bincount(labels, weights=weights, minlength=k)
    centers = centroids(X, labels, k, weights)
    apart = ((X[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    own = labels[:, None] == np.arange(k)[None, :]
    w = weights[:, None]
    leaves = np.where(mass[None, :] > w, mass / np.maximum(mass[None, :] - w, 1e-300), 0.0)
    leave = (w * apart * leaves)[np.arange(len(X)), labels]
    join = np.where(own, np.inf, w * apart * mass / (mass + w)).min(axis=1)
    return float((leave - join).max() / max(float((w * apart * own).sum()), 1e-300))


def optimal_line(x, k):
    """The best within sum of squares of points on a line, over all partitions into k intervals."""
    x = np.sort(x)
    cuts = itertools.combinations(range(1, len(x)), k - 1)
    return min(sum(((p - p.mean()) ** 2).sum() for p in np.split(x, list(cut))) for cut in cuts)


def nearest(X, centers):
    return cdist(X, centers, "sqeuclidean").argmin(axis=1)


def coassociation(partitions_a, partitions_b):
    """Share of partitions with equal labels among those in which both rows are clustered."""
    n, m = partitions_a.shape[1], partitions_b.shape[1]
    P = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            a, b = partitions_a[:, i], partitions_b[:, j]
            both = (a >= 0) & (b >= 0)
            P[i, j] = (a[both] == b[both]).mean() if both.any() else 0.0
    return P


def regularised(P, threshold, scale):
    return np.exp(scale * np.where(threshold > P, 0, P))


def second_vector(W):
    """Second eigenvector of D^-1/2 W D^-1/2, and the gap to the third eigenvalue."""
    root = np.sqrt(W.sum(axis=1))
    values, vectors = np.linalg.eigh(W / np.outer(root, root))
    return vectors[:, -2], values[-2] - values[-3]


def ncut_value(W, right):
    crossing = W[np.ix_(right, ~right)].sum()
    return crossing / W[right].sum() + crossing / W[~right].sum()


def recursive_cut(W, n_clusters):
    """Sign cuts, the largest part next."""
    parts = [np.arange(len(W))]
    while len(parts) < n_clusters:
        parts.sort(key=len)
        part = parts.pop()
        vector, _ = second_vector(W[np.ix_(part, part)])
        parts += [part[vector < 0], part[vector >= 0]]
    labels = np.empty(len(W), dtype=int)
    for label, part in enumerate(parts):
        labels[part] = label
    return labels


def accuracy(true, found):
    """Best agreement over all one-to-one matchings of labels, by trying them all."""
    classes, clusters = np.unique(true), np.unique(found)
    size = max(len(classes), len(clusters))
    table = np.zeros((size, size))
    for i, a in enumerate(classes):
        for j, b in enumerate(clusters):
            table[i, j] = np.sum((true == a) & (found == b))
    best = max(sum(table[i, p[i]] for i in range(size)) for p in itertools.permutations(range(size)))
    return best / len(true)


def rand(true, found):
    n = len(true)
    agree = sum((true[i] == true[j]) == (found[i] == found[j]) for i in range(n) for j in range(i + 1, n))
    return agree / (n * (n - 1) / 2)


def fill_missing(values, first, widths, weights, neighbours, nearest):
    """Each missing feature of a row is the mean of those of the nearest donors that have it, by plain loops."""
    rows = {}
    for row, w in zip(map(tuple, values.tolist()), weights, strict=True):
        key = tuple("nan" if x != x else x for x in row)
        if w > 0:
            rows[key] = (np.array(row), rows[key][1] + w if key in rows else w)
    donors = np.array([row for row, _ in rows.values()])
    mass = np.array([w for _, w in rows.values()])
    features = [list(range(a, a + b)) for a, b in zip(first, widths, strict=True)]
    means, variances = [], []
    for column in donors.T:
        seen = ~np.isnan(column)
        means.append(np.average(column[seen], weights=mass[seen]))
        variances.append(np.average((column[seen] - means[-1]) ** 2, weights=mass[seen]))
    filled = values.copy()
    for i, row in enumerate(values):
        apart = []
        for donor in donors:
            total, shared = 4.0, 2
            for columns in features:
                variance = sum(variances[c] for c in columns)
                if variance > 1e-20 and not np.isnan(row[columns[0]] + donor[columns[0]]):
                    total += sum((row[c] - donor[c]) ** 2 for c in columns) / variance
                    shared += 1
            apart.append(total / shared)
        order = np.argsort(apart)[:nearest]
        for columns in features:
            if not np.isnan(row[columns[0]]):
                continue
            total, room = np.zeros(len(columns)), neighbours
            for d in order:
                if room > 0 and not np.isnan(donors[d, columns[0]]):
                    taken = min(room, mass[d])
                    total += taken * donors[d, columns]
                    room -= taken
            found = neighbours - room
            filled[i, columns] = total / found if found else [means[c] for c in columns]
    return filled


def shared(partitions, i, j):
    """Partitions with rows i and j together, and those that cluster both."""
    both = (partitions[:, i] >= 0) & (partitions[:, j] >= 0)
    return np.sum(both & (partitions[:, i] == partitions[:, j])), np.sum(both)


def cluster_shares(partitions, labels):
    """Pair by pair, each row left out of its own cluster."""
    n, k = len(labels), max(labels) + 1
    shares = np.zeros((n, k))
    for i in range(n):
        for c in range(k):
            others = [j for j in range(n) if labels[j] == c and j != i]
            together, both = np.sum([shared(partitions, i, j) for j in others] or [(0, 0)], axis=0)
            shares[i, c] = together / both if both else 0.0
            if labels[i] == c and not others:
                shares[i, c] = 1.0
    return shares


def memberships(partitions, labels):
    """The chance that a companion of each row, in a random partition that has some, is of each cluster."""
    k, n = max(labels) + 1, len(labels)
    soft = np.zeros((n, k))
    for i in range(n):
        alone = sum(labels == labels[i]) == 1
        told = []
        for member in partitions:
            beside = [j for j in range(n) if (j != i or alone) and member[j] == member[i] >= 0]
            if beside:
                told.append([np.mean([labels[j] == c for j in beside]) for c in range(k)])
        soft[i] = np.mean(told, axis=0) if told else np.arange(k) == labels[i]
    return soft


def pair_shares(partitions):
    """P of every pair of distinct rows that a partition clusters both of."""
    counts = (shared(partitions, i, j) for i, j in itertools.combinations(range(partitions.shape[1]), 2))
    return np.array([together / both for together, both in counts if both])


def best_jaccard(whole, found):
    """Of each cluster of `whole` among those of `found`; rows with -1 in `found` do not exist."""
    values = []
    for c in np.unique(whole):
        cluster = {i for i in range(len(whole)) if whole[i] == c and found[i] >= 0}
        others = [set(np.flatnonzero(found == d)) for d in np.unique(found[found >= 0])]
        values.append(max(len(cluster & o) / len(cluster | o) for o in others) if cluster else np.nan)
    return np.array(values)


def eta_squared(x, labels):
    """Share of the variance of x between groups; NaN cells are left out."""
    known = ~np.isnan(x)
    x, labels = x[known], labels[known]
    between = sum((labels == c).sum() * (x[labels == c].mean() - x.mean()) ** 2 for c in np.unique(labels))
    return between / ((x - x.mean()) ** 2).sum()


def walk(tree, nodes, weights, rows, threshold, scale):
    """Each row from the root to a leaf, by where its vote lies beside the cutoff; nodes and rows are labels (T, m)."""

    def links(a, b):
        P = coassociation(a, b)
        return np.expm1(scale * P) if threshold == "auto" else regularised(P, threshold, scale)

    def voters(node):
        z, w = node.vector, weights[node.members]
        W = links(nodes[:, node.members], nodes[:, node.members])
        votes = w * z / np.sqrt(W @ w)
        return votes * (w * z**2).sum() / (votes @ W @ votes)

    known = {id(node): voters(node) for node in tree.nodes if node.left >= 0}
    labels = []
    for row in rows.T:
        at = tree.nodes[0]
        while at.left >= 0:
            link = links(row[:, None], nodes[:, at.members])[0]
            vote = link @ known[id(at)] / np.sqrt(link @ weights[at.members])
            at = tree.nodes[at.right if vote >= at.cutoff - 1e-8 * np.abs(at.vector).max() else at.left]
        labels.append(at.label)
    return np.array(labels)


def spread(table, columns, centers, weights=None, steps=1):
    """Trees of a sample on all rows of a scaled table: their centres, moved to the means of the rows, and labels."""
    weights = np.ones(len(table)) if weights is None else weights
    moved, labels = [], []
    for listed, center in zip(columns, centers, strict=True):
        rows = table[:, listed]
        for _ in range(steps):
            mine = nearest(rows, center)
            filled = [c for c in range(len(center)) if weights[mine == c].sum() > 0]
            center = center.copy()
            for c in filled:
                center[c] = np.average(rows[mine == c], axis=0, weights=weights[mine == c])
        moved.append(center)
        labels.append(nearest(rows, center))
    return moved, np.array(labels)


def draw_rows(keys, chances, weights, size, candidates=8):
    """Different rows by when they arrive, after a time of mean 1 over their weight; they weigh that over their chance.

    Candidates are those that wait least, and the heavy ones: each 1 / size of all weight or more.
    """
    mass, first = {}, {}
    for row, (key, weight) in enumerate(zip(keys.tolist(), weights, strict=True)):
        if weight > 0:
            mass[key] = mass.get(key, 0.0) + weight
            first.setdefault(key, row)
    waiting = {key: -np.log1p(-chances[first[key]]) for key in mass}
    limit = sorted([*waiting.values(), *[np.inf] * candidates * size])[candidates * size]
    heavy = {key for key in mass if mass[key] >= sum(mass.values()) / size}
    order = sorted(
        (key for key in mass if key in heavy or waiting[key] < limit), key=lambda key: waiting[key] / mass[key]
    )
    if len(order) <= size:
        return [first[key] for key in order], [mass[key] for key in order]
    rate = waiting[order[size]] / mass[order[size]]
    longest = {key: rate * mass[key] if key in heavy else min(rate * mass[key], limit) for key in order[:size]}
    return [first[key] for key in longest], [
        mass[key] * (1 - np.exp(-rate)) / (1 - np.exp(-wait)) for key, wait in longest.items()
    ]


def match_weights(rows, columns, table):
    """table[number of members in which two rows share a label]; labels below zero match nothing."""
    together = (rows[:, :, None] == columns[:, None, :]) & (rows >= 0)[:, :, None]
    return np.asarray(table)[together.sum(axis=0)]


def row_keys(X):
    """Hash each row, column by column. NaNs are equal to each other, and so are 0 and -0."""
    keys = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        plain = np.where(np.isnan(column), np.nan, column + 0.0)
        keys = stream(keys, plain.view(np.uint64))
    return keys


def project(table, starts, columns, coefficients):
    """Columns that are sums of a table's columns times coefficients, term by term."""
    out = np.zeros((len(table), len(starts) - 1))
    for row, to in zip(table, out, strict=True):
        for j in range(len(to)):
            for i in range(starts[j], starts[j + 1]):
                to[j] += coefficients[i] * row[columns[i]]
    return out


def out_of_bag_scores(X, labels, used):
    """Score columns by the clusterings without them, minus the exact mean of the same under permuted rows."""
    n, p = X.shape
    scores = np.zeros(p)
    for j in range(p):
        excess = []
        for clustering, own in zip(labels, used, strict=True):
            if not own[j]:
                count = len(np.unique(clustering))
                excess.append(eta_squared(X[:, j], clustering) - (count - 1) / (n - 1))
        scores[j] = max(np.mean(excess), 0) if excess else 0
    return scores


def gaps_weights(labels, finest, scale, joined):
    """Weigh links by the finest partitions, and a little by all."""
    order = sorted(range(len(labels)), key=lambda t: -len(set(labels[t])))
    fine = coassociation(labels[order[:finest]], labels[order[:finest]])
    return np.expm1(scale * fine) + joined * coassociation(labels, labels)


def group_votes(nodes, groups, weights, table, labels):
    """Of each column of labels, and each group: the sum of weight * table[labels in common] over the group's nodes."""
    votes = np.zeros((groups.max() + 1, labels.shape[1]))
    for node, group, weight in zip(nodes.T, groups, weights, strict=True):
        matches = ((node[:, None] == labels) & (node[:, None] >= 0)).sum(axis=0)
        votes[group] += weight * table[matches]
    return votes


def whole_units(X):
    """Centre columns and round them to whole numbers up to 2**26, whose sums are exact in any order; and the scale."""
    size = np.maximum(np.abs(X).max(axis=0), 1e-300)
    centred = X / size
    centred -= np.array([column.mean() for column in centred.T.copy()])
    reach = np.abs(centred).max(axis=0)
    return np.rint(np.divide(2.0**26 * centred, reach, out=np.zeros_like(X), where=reach > 1e-12)), size * reach


def share_variance(X, labels):
    """Sums of squares between the clusters of each clustering, sums of all squares, and the size of 2**26 units."""
    units, scale = whole_units(X)
    between = []
    for one in labels:
        indicators = (one == np.arange(one.max() + 1)[:, None]).astype(np.float64)
        squares = np.square(indicators @ units) / np.maximum(indicators.sum(axis=1), 1.0)[:, None]
        between.append(np.add.reduceat(squares, [0], axis=0)[0])
    return np.array(between), np.array([np.square(column).sum() for column in units.T.copy()]), scale

"""Twenty tables of curved, elongated or unequal groups in two or three features."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.datasets import make_circles, make_moons

FloatArray = npt.NDArray[np.float64]
Generator = np.random.Generator


class Shape(NamedTuple):
    X: FloatArray
    groups: npt.NDArray[np.intp]


def join(*parts: FloatArray) -> Shape:
    """Stack groups of rows."""
    return Shape(np.vstack(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts]))


def ball(rng: Generator, n: int, centre: tuple[float, ...], spread: float | tuple[float, ...]) -> FloatArray:
    return rng.normal(size=(n, len(centre))) * spread + np.array(centre)


def ring(rng: Generator, n: int, radius: float, noise: float, centre: tuple[float, float] = (0, 0)) -> FloatArray:
    return arc(rng, n, radius, noise, 0, 2 * np.pi) + np.array(centre)


def arc(rng: Generator, n: int, radius: float, noise: float, low: float, high: float) -> FloatArray:
    angle = rng.uniform(low, high, n)
    return np.c_[np.cos(angle), np.sin(angle)] * radius + rng.normal(size=(n, 2)) * noise


def spirals(rng: Generator, n: int, arms: int, turns: float, noise: float) -> Shape:
    parts = []
    for arm in range(arms):
        t = np.sqrt(rng.uniform(0.05, 1, n)) * turns * 2 * np.pi
        angle = t + 2 * np.pi * arm / arms
        line = np.c_[t * np.cos(angle), t * np.sin(angle)] / (turns * 2 * np.pi)
        parts.append(line + rng.normal(size=(n, 2)) * noise)
    return join(*parts)


def moons(rng: Generator, n: int, noise: float) -> Shape:
    return Shape(*make_moons(n, noise=noise, random_state=int(rng.integers(1 << 30))))


def circles(rng: Generator) -> Shape:
    return Shape(*make_circles(600, noise=0.05, factor=0.5, random_state=int(rng.integers(1 << 30))))


def sheared(rng: Generator) -> Shape:
    X, groups = join(*(ball(rng, 250, centre, 1.0) for centre in ((0, 0), (0, 9), (9, 4))))
    return Shape(X @ np.array([[0.6, -0.64], [-0.41, 0.85]]), groups)


def chainlink(rng: Generator) -> Shape:
    flat = [np.c_[ring(rng, 400, 1, 0.05), rng.normal(size=400) * 0.05] for _ in range(2)]
    return join(flat[0], flat[1][:, [0, 2, 1]] + (1, 0, 0))


def atom(rng: Generator) -> Shape:
    shell = rng.normal(size=(400, 3))
    shell *= 4 / np.linalg.norm(shell, axis=1, keepdims=True)
    return join(shell + rng.normal(size=(400, 3)) * 0.1, ball(rng, 400, (0, 0, 0), 0.6))


def helices(rng: Generator) -> Shape:
    t = np.linspace(0, 6 * np.pi, 350)
    lines = (np.c_[np.cos(t + phase), np.sin(t + phase), t / 6] for phase in (0, np.pi))
    return join(*(line + rng.normal(size=(350, 3)) * 0.06 for line in lines))


def waves(rng: Generator) -> Shape:
    parts = []
    for offset in (0, 1.3):
        x = rng.uniform(-3, 3, 400)
        parts.append(np.c_[x, np.sin(1.5 * x) + offset + rng.normal(size=400) * 0.12])
    return join(*parts)


def smile(rng: Generator) -> Shape:
    eyes = [ring(rng, 60, 0.25, 0.08, centre) for centre in ((-1, 1), (1, 1))]
    return join(ring(rng, 500, 3, 0.08), *eyes, arc(rng, 200, 1.6, 0.07, -2.6, -0.5))


def seven_balls(rng: Generator) -> Shape:
    centres = ((0, 0), (5, 0), (0, 5), (6, 6), (-5, 1), (2, -5), (-4, -5))
    return join(*(ball(rng, int(rng.integers(40, 300)), centre, rng.uniform(0.4, 1.2)) for centre in centres))


SHAPES: dict[str, Callable[[Generator], Shape]] = {
    "moons, noise 0.05": lambda rng: moons(rng, 500, 0.05),
    "moons, noise 0.10": lambda rng: moons(rng, 800, 0.10),
    "moons, noise 0.14": lambda rng: moons(rng, 400, 0.14),
    "two circles": circles,
    "three rings": lambda r: join(ring(r, 200, 1, 0.05), ring(r, 300, 2, 0.07), ring(r, 500, 3, 0.08)),
    "ring and ball": lambda rng: join(ring(rng, 400, 2, 0.12), ball(rng, 300, (0, 0), 0.4)),
    "two spirals": lambda rng: spirals(rng, 300, 2, 1.0, 0.015),
    "three spirals": lambda rng: spirals(rng, 250, 3, 0.8, 0.015),
    "two noisy spirals": lambda rng: spirals(rng, 400, 2, 0.8, 0.03),
    "unequal density": lambda r: join(ball(r, 500, (0, 0), 0.3), ball(r, 150, (3, 0), 0.9), ball(r, 80, (0, 5), 1.2)),
    "unequal sizes": lambda r: join(ball(r, 900, (0, 0), 1.0), ball(r, 60, (5, 0), 0.4), ball(r, 60, (0, 5), 0.4)),
    "sheared balls": sheared,
    "parallel lines": lambda rng: join(*(ball(rng, 300, (0, y), (4, 0.25)) for y in (0, 1.8, 3.6))),
    "crossing lines": lambda rng: join(ball(rng, 300, (0, 0), (3, 0.2)), ball(rng, 300, (0, 7), (0.2, 3))),
    "chainlink": chainlink,
    "atom": atom,
    "two helices": helices,
    "two waves": waves,
    "smile": smile,
    "seven balls": seven_balls,
}


def draw(name: str, seed: int) -> Shape:
    """Draw a table; tables of one seed do not share random numbers."""
    return SHAPES[name](np.random.default_rng([seed, list(SHAPES).index(name)]))

"""The two theorems of the paper: closed forms, and simulations that could contradict them."""

from paper.theory.noise import (
    NoiseRejection,
    break_even_strength,
    population_centers,
    population_kappa,
    simulate_noise_rejection,
)
from paper.theory.perturbation import (
    EigenExpansion,
    PerturbedModel,
    eigen_expansion,
    first_order_vector,
    noise_norm,
    perturbed_model,
    projected_vector,
    resolvent_residual,
)
from paper.theory.rates import (
    CutoffGain,
    MisclusteringRate,
    best_cutoff,
    misclustering_exponent,
    misclustering_probability,
    shifted_exponent,
    simulate_best_cutoff,
    simulate_misclustering,
)
from paper.theory.rules import SplitRule, between_of_split, kmeans_rule, optimal_rule, simulate_kmeans_rule

__all__ = [
    "CutoffGain",
    "EigenExpansion",
    "MisclusteringRate",
    "NoiseRejection",
    "PerturbedModel",
    "SplitRule",
    "best_cutoff",
    "between_of_split",
    "break_even_strength",
    "eigen_expansion",
    "first_order_vector",
    "kmeans_rule",
    "misclustering_exponent",
    "misclustering_probability",
    "noise_norm",
    "optimal_rule",
    "perturbed_model",
    "population_centers",
    "population_kappa",
    "projected_vector",
    "resolvent_residual",
    "shifted_exponent",
    "simulate_best_cutoff",
    "simulate_kmeans_rule",
    "simulate_misclustering",
    "simulate_noise_rejection",
]

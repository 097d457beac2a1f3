"""Every figure of the course by its name: a function from a language to a chart."""

from __future__ import annotations

from collections.abc import Callable

from examples.course_figures import laws, local, measured

FIGURES: dict[str, Callable[[str], str]] = {
    "laplace-standard": laws.laplace_standard,
    "laplace-mu": laws.laplace_mu,
    "laplace-b": laws.laplace_b,
    "renyi-randomized-response": laws.renyi_randomized_response,
    "renyi-laplace": laws.renyi_laplace,
    "renyi-gaussian": laws.renyi_gaussian,
    "composition": laws.composition,
    "decision-game": laws.decision_game,
    "truncated-laplace": laws.truncated_laplace,
    "salary-epsilon-error": measured.salary_epsilon_error,
    "clipped-mean-bias-variance": measured.clipped_mean_bias_variance,
    "reconstruction": measured.reconstruction,
    "cholera-map": measured.cholera_map,
    "central-local": local.central_local,
    "local-means-brazil": local.local_means_brazil,
    "local-means-mexico": local.local_means_mexico,
    "local-linear-brazil": local.local_linear_brazil,
    "local-logistic-brazil": local.local_logistic_brazil,
}

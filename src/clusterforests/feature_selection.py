"""A selector for pipelines: keep the informative features."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from clusterforests._utils.arrays import BoolArray, FloatArray
from clusterforests._utils.validation import Rule, check_parameters, either, integer, none, real
from clusterforests.estimator import ClusterForest
from clusterforests.inspection import feature_separation

__all__ = ["SelectInformative"]

RULES = {
    "estimator": either(
        none(), Rule(lambda value: hasattr(value, "fit") and not isinstance(value, type), "an estimator")
    ),
    "alpha": real(0, 1),
    "min_features": integer(1),
}
NEEDED = ("labels_", "feature_importances_", "feature_pvalues_")


class SelectInformative(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features that separate clusters which are found without them.

    A feature is kept if its p-value is at most `alpha`. The p-value is the probability that a feature which has nothing
    to do with the others does as well: of p such features about `alpha * p` are kept, so lower `alpha` if there are
    very many. The test cannot see more than agreement between features. Noise features that are correlated with each
    other vouch for each other and are kept; a feature that shows clusters which no other shows is not.

    Parameters
    ----------
    estimator : ClusterForest or None, default=None
        The forest, or anything that has `feature_importances_`, `feature_pvalues_` and `labels_` after `fit`. It is
        cloned and fitted, even if it has been fitted before. None means `ClusterForest(random_state=0)`.
    alpha : float, default=0.05
        Level of the test of each feature.
    min_features : int, default=1
        Keep at least this many: if fewer pass the test, those with the highest scores are added, and among equal scores
        those that differ most between the clusters.

    Attributes
    ----------
    estimator_ : ClusterForest
        The fitted forest.
    scores_ : ndarray of shape (`n_features_in_`,)
        The forest's `feature_importances_`. They are 0 where the forest, whose own test allows for the number of
        features, sees noise.
    pvalues_ : ndarray of shape (`n_features_in_`,)
        The forest's `feature_pvalues_`.
    support_ : ndarray of shape (`n_features_in_`,), bool
        Which features are kept.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had any.

    Examples
    --------
    >>> import numpy as np
    >>> from clusterforests import ClusterForest
    >>> from clusterforests.feature_selection import SelectInformative
    >>> X = np.random.default_rng(0).normal(size=(200, 8))
    >>> X[:100, 4:] += 3
    >>> SelectInformative(ClusterForest(2, random_state=0), alpha=0.01).fit(X).get_support(indices=True)
    array([4, 5, 6, 7])
    """

    estimator_: Any
    scores_: FloatArray
    pvalues_: FloatArray
    support_: BoolArray

    def __init__(self, estimator: Any = None, *, alpha: float = 0.05, min_features: int = 1) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.min_features = min_features

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the forest and keep the features that pass its test.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers. NaN is allowed if `estimator` allows it.
        y : ignored

        Returns
        -------
        self : SelectInformative
        """
        check_parameters(vars(self), RULES)
        finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        table = validate_data(self, X, dtype=np.float64, ensure_all_finite=finite)
        if self.min_features > table.shape[1]:
            raise ValueError(f"min_features={self.min_features} is more than the {table.shape[1]} features of X.")
        self.estimator_ = clone(self._forest()).fit(X)
        lacking = [name for name in NEEDED if not hasattr(self.estimator_, name)]
        if lacking:
            raise ValueError(
                f"estimator={self.estimator!r} has no {', '.join(lacking)} after fit. Pass a ClusterForest."
            )
        self.scores_, self.pvalues_ = self.estimator_.feature_importances_, self.estimator_.feature_pvalues_
        self.support_ = self.pvalues_ <= self.alpha
        # Where too few pass the test, the best of the others are kept, too.
        missing = self.min_features - int(self.support_.sum())
        if missing > 0:
            share = feature_separation(table, self.estimator_.labels_).features
            best = np.lexsort((-share, -self.scores_, self.support_))
            self.support_[best[:missing]] = True
        return self

    def _forest(self) -> Any:
        return ClusterForest(random_state=0) if self.estimator is None else self.estimator

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._forest()).input_tags.allow_nan
        return tags

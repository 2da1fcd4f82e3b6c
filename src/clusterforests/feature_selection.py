"""Keep the features that a forest's clusters depend on."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from clusterforests._base.parameters import Rule, check_parameters, either, integer, none, real
from clusterforests._base.typing import BoolArray, FloatArray
from clusterforests.diagnostics import FeatureImportance, feature_importance, feature_separation
from clusterforests.estimator import ClusterForest
from clusterforests.forest_view import view_of

_RULES = {
    "estimator": either(
        none(), Rule(lambda value: hasattr(value, "fit") and not isinstance(value, type), "an estimator")
    ),
    "alpha": real(0, 1),
    "min_features": integer(1),
}
_NEEDED = ("labels_", "partitions_", "estimators_features_")


class ForestFeatureSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Select the features that separate the clusters which a forest finds without them.

    Every feature is tested by `clusterforests.diagnostics.feature_importance` and kept if the p-value, the probability
    that it does as well with its values shuffled, is at most `alpha`. Of p features of pure noise about `alpha * p` are
    kept: lower `alpha` if there are very many.

    Parameters
    ----------
    estimator : ClusterForest or None, default=None
        The forest. It is cloned and fitted, even if it has been fitted before. None means
        `ClusterForest(random_state=0)`.
    alpha : float, default=0.05
        Level of the test of each feature.
    min_features : int, default=1
        Keep at least this many: if fewer pass the test, those that differ most between the clusters are added.

    Attributes
    ----------
    estimator_ : ClusterForest
        The fitted forest.
    importance_ : FeatureImportance
        All results of the test.
    scores_ : ndarray of shape (`n_features_in_`,)
        How far each feature lies above chance, in standard deviations.
    pvalues_ : ndarray of shape (`n_features_in_`,)
        p-value of each feature.
    support_ : ndarray of shape (`n_features_in_`,), bool
        Which features are kept.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had any.

    Examples
    --------
    >>> from clusterforests import ClusterForest
    >>> from clusterforests.datasets import make_g3
    >>> from clusterforests.feature_selection import ForestFeatureSelector
    >>> X = make_g3(200, n_noise=4, n_informative=4, random_state=0).data
    >>> forest = ClusterForest(2, n_estimators=30, random_state=0)
    >>> ForestFeatureSelector(forest, alpha=0.01).fit(X).get_support(indices=True)
    array([4, 5, 6, 7])
    """

    estimator_: Any
    importance_: FeatureImportance
    scores_: FloatArray
    pvalues_: FloatArray
    support_: BoolArray

    def __init__(self, estimator: Any = None, *, alpha: float = 0.05, min_features: int = 1) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.min_features = min_features

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the forest and test every feature.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers. NaN is allowed if `estimator` allows it.
        y : ignored

        Returns
        -------
        self : ForestFeatureSelector
        """
        check_parameters(vars(self), _RULES)
        finite = "allow-nan" if get_tags(self).input_tags.allow_nan else True
        table = validate_data(self, X, dtype=np.float64, ensure_all_finite=finite)
        if self.min_features > table.shape[1]:
            raise ValueError(f"min_features={self.min_features} is more than the {table.shape[1]} features of X.")
        self.estimator_ = clone(self._forest()).fit(X)
        labels, partitions, features = self._results()
        combine = view_of(self.estimator_).cut if isinstance(self.estimator_, ClusterForest) else None
        self.importance_ = feature_importance(table, labels, partitions, features, combine=combine)
        tested = self.importance_.separation.features
        self.scores_, self.pvalues_ = tested.excess, tested.p_value
        self.support_ = self.pvalues_ <= self.alpha
        missing = self.min_features - int(self.support_.sum())
        if missing > 0:
            apart = np.where(self.support_, -np.inf, feature_separation(table, labels).features.share)
            self.support_[np.argsort(-apart, kind="stable")[:missing]] = True
        return self

    def _forest(self) -> Any:
        return ClusterForest(random_state=0) if self.estimator is None else self.estimator

    def _results(self) -> tuple[Any, ...]:
        lacking = [name for name in _NEEDED if not hasattr(self.estimator_, name)]
        if lacking:
            raise ValueError(
                f"estimator={self.estimator!r} has no {', '.join(lacking)} after fit. Pass a ClusterForest."
            )
        return tuple(getattr(self.estimator_, name) for name in _NEEDED)

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self)
        return self.support_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self._forest()).input_tags.allow_nan
        return tags

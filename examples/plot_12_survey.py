"""
Guide: answers of a survey
==========================

Questionnaires have answers in words, with an order; don't-knows; questions that were skipped; and people who differ in
age and region too. The question is whether there are types of respondents, and by which questions they differ.
"""

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from clusterforests import ClusterForest, TableReader, describe, plots

rng = np.random.default_rng(0)
WORDS = np.array(["strongly disagree", "disagree", "neutral", "agree", "strongly agree"])
QUESTIONS = [
    "I like trying new things",
    "I read reviews first",
    "Price matters most",
    "I buy on my phone",
    "I care where it is made",
    "I would pay for delivery",
]
group = rng.choice(3, size=500, p=(0.4, 0.35, 0.25))
leaning = np.array([[4, 2, 1, 4, 2, 3], [1, 3, 4, 1, 1, 0], [2, 4, 1, 2, 4, 3]])[group]
answers = np.clip(np.rint(leaning + rng.normal(0, 0.9, leaning.shape)), 0, 4).astype(int)
survey = pd.DataFrame(WORDS[answers], columns=QUESTIONS)
survey.insert(0, "respondent", [f"R{number:05d}" for number in rng.permutation(90_000)[:500]])
survey["age"] = rng.integers(18, 80, 500)
survey["region"] = rng.choice(["north", "east", "south", "west"], 500)
survey["anything else?"] = [f"comment {i}: {rng.choice(['thanks', 'too long', 'no'])} and more" for i in range(500)]
survey[QUESTIONS] = survey[QUESTIONS].mask(rng.random((500, 6)) < 0.08)
survey.head()

# %%
# How the answers are read
# ------------------------
# Words with an order become ranks, so that "agree" lies between "neutral" and "strongly agree". Scales in other words:
# ``TableReader(overrides={"mood": ["low", "fair", "great"]})``.

print(TableReader().inspect(survey)[0])

# %%
# Types of respondents
# --------------------
# Skipped questions are filled in from similar respondents; nobody is dropped. We keep age and region out of the trees,
# because the types should come from the answers alone.

reader = TableReader()
answers_only = reader.fit_transform(survey[QUESTIONS])
forest = ClusterForest(random_state=0).fit(answers_only)
print(forest.chosen_params_["n_clusters"].reason)
print()
print(describe(forest, answers_only))

# %%
# The answers were drawn from three types, so that the result can be checked.

print(f"adjusted Rand index: {adjusted_rand_score(group, forest.labels_):.2f}")

# %%
# Does age or region go with the types? They took no part, so this is an honest question.

pd.crosstab(survey["region"], forest.labels_, normalize="columns").round(2)

# %%
print(survey["age"].groupby(forest.labels_).median().to_string())

# %%
# Each type against the average, question by question.

_ = plots.cluster_profiles(forest, answers_only)

# %%
# Weights
# -------
# If some people were sampled more often than others, pass the weights of the survey.

weights = np.where(survey["region"] == "north", 2.0, 1.0)
weighted = ClusterForest(forest.n_clusters_, random_state=0).fit(answers_only, sample_weight=weights)
print(f"agreement with the unweighted types: {adjusted_rand_score(forest.labels_, weighted.labels_):.2f}")

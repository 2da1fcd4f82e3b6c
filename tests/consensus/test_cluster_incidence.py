"""Clusters as columns of zeros and ones."""

from hypothesis import given, settings
from noisy_partitions import small_partitions

from clusterforests.consensus.cluster_incidence import incidence


@given(partitions=small_partitions(-1))
@settings(max_examples=60)
def test_incidence(partitions):
    found = incidence(partitions)
    columns = [
        (t, c, partitions[t] == c) for t in range(len(partitions)) for c in range(3) if (partitions[t] == c).any()
    ]
    assert found.rows.toarray().T.tolist() == [member.tolist() for _, _, member in columns]
    owners = found.partitions.toarray()
    assert owners.sum() == len(columns)
    assert all(owners[t, j] == 1 for j, (t, _, _) in enumerate(columns))

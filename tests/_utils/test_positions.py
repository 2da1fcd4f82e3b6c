"""Places in messages, for readers who count from 1."""

import pytest

from clusterforests._utils.validation import rename_places


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("infinity in row 4, column 1.", "infinity in row 5, column 2."),
        ("row 0 - row 9 of 10 row(s), 3 rows", "row 1 - row 10 of 10 row(s), 3 rows"),
        ("class 'row 3' and column 'the row 3 and column 4'", "class 'row 3' and column 'the row 3 and column 4'"),
        ('class "it\'s row 3" in row 3', 'class "it\'s row 3" in row 4'),
        (repr("both ' and \" in row 3") + " in row 3", repr("both ' and \" in row 3") + " in row 4"),
        ("the cluster's row 3 and its rows' column 3", "the cluster's row 4 and its rows' column 4"),
    ],
)
def test_what_is_counted_is_renamed_and_what_is_quoted_is_left(text, expected):
    assert rename_places(text) == expected


def test_rows_have_the_names_that_they_are_given():
    assert rename_places("row 1 and row 0, column 0", "ab".__getitem__) == "row b and row a, column 1"

"""Columns that name the rows, hold classes, or are left out."""

import io

import pytest

from clusterforests.app.files.assembling import assign_roles
from clusterforests.app.files.request import Request
from clusterforests.app.files.text_files import read_text


def test_ids_labels_and_ignored_columns():
    text = "name,a,skip,class\nr1,1,hello,u\nr2,2,world,\nr3,3,!,v\n"
    data = read_text("file", io.BytesIO(text.encode()), Request(id="name", label="class", ignore=("skip",)))
    assert data.table.columns == ["a"]
    assert (data.ids, data.id_name) == (["r1", "r2", "r3"], "name")
    assert data.truth == ["u", None, "v"]


def test_a_first_column_without_a_name_holds_the_names_of_the_rows():
    data = read_text("file", io.BytesIO(b'"","a"\n"r1",1\n"r2",2\n'), Request())
    assert data.ids == ["r1", "r2"]
    assert "taken as row names" in data.notes[0]


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (Request(categories=["a"], numbers=["a"]), "--category and --number both name column 'a'. Leave it out of one"),
        (Request(ignore=["b"], ordered=["b=low,high"]), "--ignore and --ordered both name column 'b'."),
        (Request(ordered=["a=low"]), "--ordered a=low does not name two different levels or more."),
        (Request(ordered=["a="]), "--ordered a= does not name two different levels or more."),
        (Request(ordered=["a=low,low"]), "--ordered a=low,low does not name two different levels or more."),
    ],
)
def test_answers_that_would_be_forgotten_are_refused(request_, said):
    with pytest.raises(ValueError, match=said):
        assign_roles("t.csv", ["a", "b", "c"], request_)
    assign_roles("t.csv", ["a", "b", "c"], Request(categories=["a", "a"], ordered=["b=low,high", "c"]))

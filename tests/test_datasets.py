import pytest

from clusterforests.datasets import UCI_NAMES, load_uci

SHAPES = {  # rows, features, classes, as the paper's table of data sets has them
    "soybean": (47, 35, 4),
    "spect": (267, 22, 2),
    "imgseg": (2100, 19, 7),
    "heart": (270, 13, 2),
    "wine": (178, 13, 3),
    "wdbc": (569, 30, 2),
    "robot": (164, 90, 5),
    "madelon": (2000, 500, 2),
}


@pytest.mark.parametrize("name", UCI_NAMES)
def test_shapes(uci, name):
    data = uci(name)
    assert (*data.data.shape, len(set(data.target))) == SHAPES[name]
    assert len(data.feature_names) == data.data.shape[1]


def test_unknown_and_missing(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="name='iris' is not one of"):
        load_uci("iris")
    with pytest.raises(FileNotFoundError, match=r"heart\.csv"):
        load_uci("heart", data_home=tmp_path)
    monkeypatch.delenv("CLUSTERFORESTS_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match="set CLUSTERFORESTS_DATA"):
        load_uci("heart")


def test_reads_the_given_folder(tmp_path):
    (tmp_path / "heart.csv").write_text("age,label\n3.5,yes\n4,no\n")
    data = load_uci("heart", data_home=tmp_path)
    assert data.data.tolist() == [[3.5], [4.0]]
    assert list(data.target) == ["yes", "no"]
    assert data.feature_names == ["age"]

"""UC Irvine data in files on this machine."""

import pytest

from paper.datasets import UCI_NAMES, load_uci

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


def test_given_folder_before_the_variable(tmp_path, monkeypatch, cache):
    for folder, value in (("given", 1), ("variable", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "heart.csv").write_text(f"age,label\n{value},yes\n")
    monkeypatch.setenv("CLUSTERFORESTS_DATA", str(tmp_path / "variable"))
    assert load_uci("heart").data.item() == 2
    assert load_uci("heart", data_home=tmp_path / "given").data.item() == 1
    with pytest.raises(FileNotFoundError, match="download=False"):
        load_uci("heart", data_home=tmp_path, download=False)


def test_reads_what_spreadsheets_write(tmp_path):
    (tmp_path / "heart.csv").write_bytes(b'\xef\xbb\xbf"age",label\r\n"3.5","a, b"\r\n\r\n')
    data = load_uci("heart", data_home=tmp_path)
    assert data.feature_names == ["age"]
    assert list(data.target) == ["a, b"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"a,b,label\n", "has a header but no rows"),
        (b"a,b\n1,2\n", "line 1: the last of several columns must be 'label', not 'b'"),
        (b"label\nyes\n", "line 1: the last of several columns"),
        (b"a,b,label\n1,2,x\n1,x\n", "line 3: 2 columns where the header has 3"),
        (b"a,b,label\n1,2,3,x\n", "line 2: 4 columns where the header has 3"),
        (b"a,b,label\n1,2,x\n\n3,four,x\n", "line 4, column 'b': 'four' is not a finite number"),
        (b"a,b,label\n,2,x\n", "line 2, column 'a': '' is not a finite number"),
        (b"a,b,label\n1,2,x\n1,nan,x\n", "line 3, column 'b': 'nan' is not a finite number"),
        (b"a,b,label\n1,2,\n", "line 2, column 'label': it is empty"),
        (b"a,label\n1,\xff\n", "cannot be read as a CSV file in UTF-8"),
        (b"a,label\n" + b"1" * 200_000 + b",x\n", "cannot be read as a CSV file"),
    ],
)
def test_malformed_files(tmp_path, content, message):
    (tmp_path / "heart.csv").write_bytes(content)
    with pytest.raises(ValueError, match=rf"heart\.csv.*{message}"):
        load_uci("heart", data_home=tmp_path)


@pytest.mark.parametrize("name", ["wine", "wdbc"])
def test_bundled_sets_need_nothing(name, cache):
    assert load_uci(name, download=False).data.shape == SHAPES[name][:2]
    assert not cache.exists()

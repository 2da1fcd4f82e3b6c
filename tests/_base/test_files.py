"""Files are whole, however their writing ends."""

import os

import pytest

from clusterforests._base.files import replace_text, replacing


def test_a_file_is_replaced_once_it_is_whole(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")
    with replacing(path) as out:
        out.write("new")
        out.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["file.txt"]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file.bin"
    path.write_bytes(b"old")

    def fail():
        with replacing(path, "wb") as out:
            out.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file.bin"]


def test_the_target_of_a_link_is_replaced(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    target.write_text("old")
    link.symlink_to(target)
    replace_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_devices_are_written_to_and_folders_refused(tmp_path):
    device = tmp_path / "pipe"
    os.mkfifo(device)
    reader = os.open(device, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(device) as out:
        out.write("through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert device.is_fifo()
    with pytest.raises(IsADirectoryError, match=r"is a folder\. Name a file in it"), replacing(tmp_path):
        pass


def test_folders_are_made_and_line_ends_kept(tmp_path):
    path = tmp_path / "a" / "b" / "c.txt"
    replace_text(path, "é\r\n")
    assert path.read_bytes() == "é\r\n".encode()

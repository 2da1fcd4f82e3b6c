"""Files are whole, however their writing ends."""

import os
import runpy
import secrets
import stat

import pytest

from clusterforests._utils import files
from clusterforests._utils.files import create_beside, move_into_place, replace_text, replacing


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


def test_the_mode_of_a_replaced_file_is_kept(tmp_path):
    path = tmp_path / "secret.txt"
    replace_text(path, "new file")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    for mode in (0o600, 0o640, 0o664):
        path.chmod(mode)
        replace_text(path, f"{mode}")
        assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("length", [243, 244, 255])
def test_long_names_are_written(tmp_path, length):
    path = tmp_path / ("n" * length)
    for text in ("first", "second"):
        replace_text(path, text)
        assert path.read_text() == text


def test_a_link_in_the_place_of_the_unfinished_file_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(secrets, "token_hex", lambda _: "guessed")
    (tmp_path / ".guessed.part").symlink_to(victim)
    with pytest.raises(FileExistsError, match="report"):
        replace_text(tmp_path / "report", "new")
    assert victim.read_text() == "precious"


def staged(folder, names):
    for name in names:
        file, part = create_beside(folder / name)
        os.write(file, b"new")
        os.close(file)
        yield part, folder / name


def test_all_files_are_moved_into_place_or_none(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "c").mkdir()
    before = sorted(os.listdir(tmp_path))
    parts = list(staged(tmp_path, ["a", "b", "c"]))
    with pytest.raises(OSError, match="/c'"):
        move_into_place(parts)
    assert (tmp_path / "a").read_text() == "old"
    assert sorted(name for name in os.listdir(tmp_path) if not name.endswith(".part")) == before
    (tmp_path / "c").rmdir()
    for part, _ in parts:
        part.unlink(missing_ok=True)
    move_into_place(staged(tmp_path, ["a", "b", "c"]))
    assert {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)} == dict.fromkeys("abc", "new")


def test_without_hard_links_all_or_none_too(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "a").write_text("old")
    parts = list(staged(tmp_path, ["a", "b"]))
    parts[1][0].unlink()
    with pytest.raises(FileNotFoundError):
        move_into_place(parts)
    assert {name: (tmp_path / name).read_text() for name in os.listdir(tmp_path)} == {"a": "old"}


def test_systems_without_owners_and_modes(tmp_path, monkeypatch):
    """As Windows is."""
    monkeypatch.delattr(os, "fchown")
    monkeypatch.delattr(os, "fchmod")
    path = tmp_path / "file.txt"
    path.write_text("old")
    replace_text(path, "new")
    assert path.read_text() == "new"


def test_flags_of_windows_are_used(monkeypatch):
    """Without O_BINARY, Windows would put a carriage return before every line end of a model."""
    monkeypatch.setattr(os, "O_BINARY", 1 << 28, raising=False)
    monkeypatch.delattr(os, "O_NOFOLLOW")
    monkeypatch.delattr(os, "O_CLOEXEC")
    found = runpy.run_path(files.__file__)["CREATE"]
    assert found == os.O_RDWR | os.O_CREAT | os.O_EXCL | 1 << 28

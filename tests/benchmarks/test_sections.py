"""Sections of a page of figures are replaced one by one, and those of today's algorithm are not measured again."""

import pytest
import sections
import stamp
from sections import Section, measure, outdated, replaced

HEAD = "# Title\n\nWhat is measured."
ORDER = ["First", "Second", "Third"]
OLD, NOW = "1" * 9, "2" * 9


def made(commit):
    return f"Made at commit {commit} (golden results {12 * 'a'}) with Python 3.11.7."


def page(**bodies):
    return "\n\n".join([HEAD, *(f"## {title}\n\n{body}" for title, body in bodies.items())]) + "\n"


@pytest.fixture(autouse=True)
def _stamps(monkeypatch):
    monkeypatch.setattr(stamp, "is_current", lambda commit, kind: commit == NOW)
    monkeypatch.setattr(sections, "stamp", lambda: made(NOW))


@pytest.fixture
def calls():
    return []


@pytest.fixture
def all_sections(calls):
    def section(title):
        def lines():
            calls.append(title)
            yield "| cell |"
            yield f"new {title}"

        return Section(title, lines)

    return {title.lower(): section(title) for title in ORDER}


def test_a_section_is_replaced_and_the_others_stay():
    before = page(First="| a |\n|---|\n\none", Second="two\n\n### Part\n\nof two", Third="three")
    after = page(First="| a |\n|---|\n\none", Second="new", Third="three")
    assert replaced(before, HEAD, "Second", "\nnew\n\n", ORDER) == after
    assert replaced(before, HEAD, "Third", "three", ORDER) == before


def test_a_section_is_added_in_its_place():
    assert replaced("", HEAD, "Second", "two", ORDER) == page(Second="two")
    both = page(First="one", Third="three")
    assert replaced(both, HEAD, "Second", "two", ORDER) == page(First="one", Second="two", Third="three")
    assert replaced(both, HEAD, "First", "new", ORDER) == page(First="new", Third="three")


def test_sections_of_unknown_titles_are_kept_at_the_end():
    assert replaced(page(Other="4", First="1"), HEAD, "Third", "3", ORDER) == page(First="1", Third="3", Other="4")


def test_the_head_is_replaced():
    before = page(First="one").replace("What is measured.", f"{made(OLD)}")
    assert replaced(before, HEAD, "First", "one", ORDER) == page(First="one")


def test_sections_without_a_stamp_of_today_are_outdated(all_sections):
    assert outdated("", all_sections) == ["first", "second", "third"]
    assert outdated(page(First=made(NOW), Second=made(OLD), Third="no stamp"), all_sections) == ["second", "third"]
    assert outdated(page(First=made(NOW), Second=f"commit {NOW}", Third=made(NOW)), all_sections) == ["second"]


def test_only_what_is_named_or_outdated_is_measured(all_sections, calls, tmp_path, capsys):
    out = tmp_path / "PAGE.md"
    out.write_text(page(First=made(NOW), Third="no stamp"))
    measure(all_sections, HEAD, out, ["first"], "On 2 cores.")
    new = f"| cell |\nnew First\n\nOn 2 cores. {made(NOW)}"
    assert out.read_text() == page(First=new, Third="no stamp")
    assert f"## First\n\n{new}\n" in capsys.readouterr().out
    measure(all_sections, HEAD, out, [])
    assert calls == ["First", "Second", "Third"]
    assert outdated(out.read_text(), all_sections) == []
    measure(all_sections, HEAD, out, [])
    assert calls == ["First", "Second", "Third"]
    assert "all sections are of the algorithm as it is now" in capsys.readouterr().out


def test_a_run_that_is_stopped_keeps_what_it_measured(all_sections, calls, tmp_path):
    def stopped():
        yield "half"
        raise KeyboardInterrupt

    out = tmp_path / "PAGE.md"
    out.write_text(page(Second="old"))
    with pytest.raises(KeyboardInterrupt):
        measure({**all_sections, "second": Section("Second", stopped)}, HEAD, out, [])
    assert out.read_text() == page(First=f"| cell |\nnew First\n\n{made(NOW)}", Second="old")
    measure(all_sections, HEAD, out, [])
    assert calls == ["First", "Second", "Third"]


def test_without_a_page_all_is_printed(all_sections, calls, capsys):
    measure(all_sections, HEAD, None, [])
    assert calls == ORDER
    assert capsys.readouterr().out.count(made(NOW)) == 3

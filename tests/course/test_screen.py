"""Text as a terminal shows it: bars that write over their line, colours that are dropped, a limit."""

import pytest

from regard.course.screen import Screen


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("one\ntwo\n", "one\ntwo\n"),
        ("a\r\nb\r\n", "a\nb\n"),
        ("10 %\r20 %\r100 %\ndone\n", "100 %\ndone\n"),
        ("long line\rshort\n", "shortline\n"),
        ("long line\r\x1b[Kshort\n", "short\n"),
        ("long line\x1b[2K\rshort\n", "short\n"),
        ("abc\b\bX\n", "aXc\n"),
        ("\x1b[1;31mred\x1b[0m and \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "red and link\n"),
        ("bell\a tab\tnull\0 end\x7f\n", "bell tab\tnull end\n"),
        ("\x1b(Bascii \x1b=keys", "ascii keys"),
    ],
)
def test_text_is_shown_as_a_terminal_would(written: str, shown: str) -> None:
    at_once, letter_by_letter = Screen(1000), Screen(1000)
    at_once.write(written)
    for letter in written:
        letter_by_letter.write(letter)
    assert at_once.text == letter_by_letter.text == shown
    assert not at_once.is_cut


def test_what_does_not_fit_is_dropped() -> None:
    screen = Screen(10)
    screen.write("12345\n")
    assert not screen.is_cut
    screen.write("67890\nmore\n")
    assert (screen.text, screen.is_cut) == ("12345\n6789", True)
    for _ in range(100_000):
        screen.write("more\n")
    assert screen.text == "12345\n6789"


def test_a_bar_that_is_redrawn_for_hours_takes_no_room() -> None:
    screen = Screen(10)
    for done in range(5000):
        screen.write(f"\r{done:5}")
    assert (screen.text, screen.is_cut) == (" 4999", False)

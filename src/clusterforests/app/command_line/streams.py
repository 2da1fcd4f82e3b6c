"""Standard input, output and error: where they are closed, a command says so; what is redirected is UTF-8."""

import errno
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

ADVICE = {
    errno.ENOENT: "Check the name.",
    errno.EACCES: "Check its permissions.",
    errno.EPERM: "Check its permissions.",
    errno.ENOSPC: "Free some space and run the command again; nothing was written.",
    errno.EFBIG: "Choose another place and run the command again; nothing was written.",
    errno.EROFS: "Choose another folder.",
}


def explain(error: OSError) -> str:
    """Turn an error of the operating system into a sentence: which file, what happened, what to do."""
    if error.errno is None:
        return str(error)
    name = "" if error.filename is None else f"{error.filename}: "
    advice = "Send it elsewhere." if error.filename == "standard output" else ADVICE.get(error.errno, "")
    return " ".join(filter(None, [f"{name}{error.strerror}.", advice]))


def open_closed_streams() -> None:
    """Open what is closed such that reading and writing fail with an error of the system.

    It also keeps the numbers 0 to 2 taken: a file that were opened as 1 would receive what is printed.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is not None:
            continue
        wrong_way = os.O_WRONLY if mode == "r" else os.O_RDONLY
        given = os.open(os.devnull, os.O_WRONLY if name == "stderr" else wrong_way)
        if given != number:
            os.dup2(given, number)
            os.close(given)
        setattr(sys, name, os.fdopen(number, mode, encoding="utf-8", closefd=False))


def write_any_character() -> None:
    """Write redirected output as files are written: in UTF-8, with plain line ends.

    Windows would write it in the encoding of the country, which lacks most characters. A terminal shows "?" for those
    that it lacks. PYTHONIOENCODING has the last word.
    """
    if "PYTHONIOENCODING" in os.environ:
        return
    for stream in (sys.stdout, sys.stderr):
        if not isinstance(stream, io.TextIOWrapper):
            continue
        if stream.isatty():
            stream.reconfigure(errors="replace")
        else:
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


@contextmanager
def writing_to_stdout() -> Iterator[None]:
    """Let errors of the system name standard output; what could not be written is then forgotten."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        with suppress(OSError):  # otherwise Python would try again when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OSError(error.errno, error.strerror, "standard output") from error

"""The results of the noise benchmark as Markdown."""


def report(rows):
    return ""

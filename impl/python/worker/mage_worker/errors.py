"""What a request may end in, besides a result."""


class Unavailable(Exception):
    """This machine, or this version of a library, does not offer something."""

    def __init__(self, what, reason, remedy=""):
        super().__init__("%s is unavailable: %s" % (what, reason))
        self.what, self.reason, self.remedy = what, reason, remedy


class Failure(Exception):
    """Something was tried and went wrong; one line says what."""


def one_line(error):
    """The first line of an exception's text that says something, after its type."""
    text = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    name = type(error).__name__
    if isinstance(error, Failure):
        return text
    return "%s: %s" % (name, text) if text else name

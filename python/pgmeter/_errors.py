"""Errors of this package."""


class PgmeterError(Exception):
    """Base class of all errors of this package."""


class FormatError(PgmeterError, ValueError):
    """The file is not a record or a store, or has a format that this version cannot read."""


class NoSuchRun(PgmeterError, LookupError):
    """The store has no run with this id, or several begin like it."""

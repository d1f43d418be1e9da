"""Errors of the stores.

    StoreError                 something could not be kept or read
    ├── StoreBusyError         another process held the database too long; try again
    ├── DiskFullError          no room left; free some and try again
    ├── StoreCorruptError      the file is damaged or not a memagent database
    ├── BlobMissingError       a stored text is not there any more
    ├── StoreVersionError      the data was written by a newer memagent
    └── StoreClosedError       the store was closed before the call

Errors of outside libraries never cross this wall: each is mapped once, with its cause chained.
"""

from __future__ import annotations


class StoreError(Exception):
    """Something could not be kept or read. The text says what to do."""


class StoreBusyError(StoreError):
    """Another process held the database for longer than the wait limit."""


class DiskFullError(StoreError):
    """The disk, or the quota, has no room left."""


class StoreCorruptError(StoreError):
    """A file is damaged, or is not a memagent database."""


class BlobMissingError(StoreError):
    """No stored text has this digest in this scope."""


class StoreVersionError(StoreError):
    """The data folder was written by a newer version of memagent."""


class StoreClosedError(StoreError):
    """The store was closed before the call."""

"""Compiled code that is kept: under which name, in the user's cache folder, and in the archive of the package."""

"""Shows the tables of docstrings in the reference: they are written as reStructuredText has them, for `help()`.

An extension of griffe, which reads docstrings for mkdocstrings.
"""

import re

try:
    from griffe import Extension
except ModuleNotFoundError:  # pages of games are made without the docs extra
    Extension = object

RULE = re.compile(r"^ *=+  +=+ *$")


class Tables(Extension):
    """Turns the tables of every docstring into Markdown."""

    def on_instance(self, *, obj, **_):
        """Looks at each object as it is read."""
        if not obj.is_alias and obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text):
    """A docstring with its tables of two columns, and its `::` before code, as Markdown has them."""
    lines, rows, column = [], None, 0
    for line in re.sub(r" ::$|(?<=\S:):$", "", text, flags=re.MULTILINE).splitlines():
        if RULE.match(line):
            if rows is None:
                rows, column = [], re.search(r"=  +", line).end()
            else:
                lines += ["| | |", "| --- | --- |", *(f"| {first} | {second} |" for first, second in rows)]
                rows = None
        elif rows is None:
            lines.append(line)
        else:
            add_row(rows, line[:column].strip(), line[column:].strip())
    return "\n".join(lines)


def add_row(rows, first, second):
    """Adds a line of a table, to the row above where that goes on."""
    if rows and (not first or rows[-1][0].count("``") % 2):
        rows[-1] = (f"{rows[-1][0]} {first}".strip(), f"{rows[-1][1]} {second}".strip())
    else:
        rows.append((first, second))

"""A GTP engine that plays the first empty point, with a habit of real engines: gtp_engine.py HABIT [LOG]."""

import sys

habit, log = sys.argv[1], sys.argv[2:]
COLUMNS = "ABCDEFGHJKLMNOPQRST"
taken, size = set(), 19


def write(text):
    sys.stdout.write(text.replace("\n", "\r\n") if habit == "CRLF" else text)
    sys.stdout.flush()


def answer_to(words):
    global size
    if words[0] == "boardsize":
        size = int(words[1])
    elif words[0] == "clear_board":
        taken.clear()
    elif words[0] == "play":
        taken.add(words[2])
    elif words[0] == "genmove":
        if habit == "no point":
            return "I9"
        point = next(
            f"{COLUMNS[column]}{row + 1}"
            for row in range(size)
            for column in range(size)
            if f"{COLUMNS[column]}{row + 1}" not in taken
        )
        return point.lower() if habit == "small letters" else point
    return ""


if habit == "banner":
    write("==== Go 1.0 ====\n? for help\n\n")
if habit == "banner like an answer":
    write("= ready\n\n")
for line in sys.stdin:
    if log:
        with open(log[0], "a") as file:
            file.write(line)
    words = line.split()
    number = (
        words.pop(0)
        if words[0].isdecimal() and habit in ("numbers", "banner like an answer", "strays like answers")
        else ""
    )
    if habit == "stray lines":
        write("thinking ...\nIllegal move\n")
    if habit == "strays like answers":
        write("= A2\n? what\n\n")
    if habit == "an error first" and words[0] == "genmove":
        write("? thinking\n")
    if words[0].isdecimal() or habit == "refuses" or (habit == "no clocks" and words[0].startswith("time")):
        write("? unknown command\n\n")
        continue
    answer = answer_to(words)
    if habit == "several lines" and words[0] == "genmove":
        answer += "\n(A1 B1)"
    write(f"={number}{chr(9) if habit == 'tabs' else ' '}{answer}\n" + "\n" * (habit != "no blank lines"))
    if words[0] == "quit":
        break

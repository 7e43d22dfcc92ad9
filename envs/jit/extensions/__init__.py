"""Extensions of Numba: methods of rules, memory by address, and functions compiled once for all rules."""

"""What the searches that Numba compiles share: their shared record, programs, memory and threads."""

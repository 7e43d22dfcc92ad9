"""Objects whose memory is outside of Python, copied by the states that they save."""

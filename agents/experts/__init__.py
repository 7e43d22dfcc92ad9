"""What is known of one game, a folder each.

``base.experts`` lists them; a folder can be deleted with its name there.
"""

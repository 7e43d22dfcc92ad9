"""Searches of one position in several processes, here or on Ray, whose answers their agent puts together."""

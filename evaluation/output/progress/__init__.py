"""How far a run is, while it goes on."""

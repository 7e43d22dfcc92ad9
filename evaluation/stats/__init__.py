"""Statistics of results (``zermelo.evaluation.results``)."""

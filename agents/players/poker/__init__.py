"""Texas hold'em by an abstract game: betting, hands sorted into buckets, and policies computed by CFR."""

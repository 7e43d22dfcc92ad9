"""Games in which seeds are sown: Kalah and Oware."""

"""Observe any value as typed data, the way JAX flattens it, and compare two observations."""

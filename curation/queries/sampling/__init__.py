"""Which queries will be judged: strata of the traffic, allocation, and the seeded draw."""

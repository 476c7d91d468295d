"""The frame: which queries of the traffic can be drawn, in a seeded order, with their bands and spellings."""

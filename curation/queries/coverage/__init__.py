"""Coverage: the regions of the corpus that the queries test, and the gaps that no query tests.

The method of measuring coverage is semantic stratification (Klearman et al. 2026, arXiv 2604.20763,
"Coverage, Not Averages"). The entities of the documents form a graph by similarity of meaning. The clusters
of the graph are the strata, and each document and each query belongs to the clusters of its entities.
Coverage is measured without the evaluated retrievers.
"""

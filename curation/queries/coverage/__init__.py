"""Coverage: the regions of the corpus that the queries test, and the gaps that no query tests.

The method is semantic stratification (Klearman et al. 2026, arXiv 2604.20763, "Coverage, Not Averages"). The
entities of the documents form a graph by meaning, its clusters are the strata, and each document and each
query belongs to the clusters of its entities. No evaluated retriever takes part in the method.
"""

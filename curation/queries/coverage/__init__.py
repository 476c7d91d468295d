"""Coverage: which regions of the corpus the queries test, and which nothing tests.

The method is semantic stratification (Klearman et al. 2026, arXiv 2604.20763, "Coverage, Not Averages"). The
entities of the documents form a graph by meaning, its clusters are the strata, and each document and each
query belongs to the clusters of its entities. No retriever that is evaluated has a part in it.
"""

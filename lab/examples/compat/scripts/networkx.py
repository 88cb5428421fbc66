import networkx as nx

score = max(nx.pagerank(nx.karate_club_graph()).values())
print("Final Validation Performance:", score)

import umap
from sklearn.datasets import load_digits

x, y = load_digits(n_class=3, return_X_y=True)
places = umap.UMAP(n_neighbors=10, n_epochs=50).fit_transform(x)
from sklearn.neighbors import KNeighborsClassifier

score = KNeighborsClassifier().fit(places, y).score(places, y)
assert score > 0.9
print("Final Validation Performance:", score)

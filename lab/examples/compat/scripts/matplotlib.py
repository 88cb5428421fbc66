import os

import matplotlib
import matplotlib.pyplot as plt

plt.plot([1, 2, 3])
plt.title("umlauts: äöü, $x^2$")
plt.savefig("plot.png")
plt.savefig("plot.pdf")
assert matplotlib.get_backend().lower() == "agg", matplotlib.get_backend()
score = float(os.path.getsize("plot.png") > 1000)
print("Final Validation Performance:", score)

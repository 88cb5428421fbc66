import dask.dataframe as dd
from dask.distributed import Client

if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1) as client:
        table = dd.read_csv("input/train.csv").repartition(npartitions=4)
        score = table.groupby("color")["y"].mean().compute().max()
    print("Final Validation Performance:", score)

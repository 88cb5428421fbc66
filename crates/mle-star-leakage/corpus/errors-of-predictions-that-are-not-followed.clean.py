import pandas as pd
from statsmodels.tsa.statespace.sarimax import SARIMAX

sales = pd.read_csv("sales.csv", parse_dates=["month"], index_col="month")
y, more = sales["turnover"], sales[["holidays"]]
past, late = y.iloc[:-12], y.iloc[-12:]
model = SARIMAX(past, exog=more.iloc[:-12], order=(1, 1, 1)).fit(disp=False)
expected = model.predict(start=late.index[0], end=late.index[-1], exog=more.iloc[-12:])
print(f"Final Validation Performance: {((late - expected).abs() / late).mean()}")

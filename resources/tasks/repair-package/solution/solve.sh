set -e
cp "$(dirname "$0")/stock.py" shelf/stock.py
python3 -m unittest -q

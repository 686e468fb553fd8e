cp "$(dirname "$0")/pairs.py" pairs.py

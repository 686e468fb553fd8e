set -e
cp "$(dirname "$0")/config.json" config.json
python3 train.py

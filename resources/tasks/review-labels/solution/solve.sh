exec python3 -I "$(dirname "$0")/fit.py"

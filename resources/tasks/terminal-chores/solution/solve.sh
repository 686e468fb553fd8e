set -e
awk '{ print $8 }' access.log | sort | uniq -c | sort -k1,1nr -k2,2 | awk '{ print $2 "\t" $1 }' > counts.tsv
awk '$8 >= 500 { print $1 }' access.log | sort | uniq -c | sort -k1,1nr | awk 'NR == 1 { print $2 }' > worst.txt
python3 - <<'END'
import pathlib
import re
import unicodedata
for path in list(pathlib.Path("inbox").iterdir()):
    plain = unicodedata.normalize("NFKD", path.name).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9.]+", "-", plain).strip("-").replace("-.", ".")
    path.rename(path.with_name(plain))
END
tar -czf inbox.tar.gz inbox/*
sha256sum inbox/* > sums.sha256
printf '#!/bin/sh\nfind "$1" -type f -printf x | wc -c\n' > count.sh
chmod +x count.sh

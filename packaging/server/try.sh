#!/usr/bin/env bash
# Put the server's package to the test in a bare root of a distribution (needs root, mmdebstrap and the network):
#   packaging/server/try.sh PACKAGE [SUITE]      SUITE: bookworm (default), trixie; ROOT_TAR=FILE reuses a root
# installed, configured, served as its user under a notify socket, joined by an invitation, backed up and drilled,
# installed over itself with its data kept, removed with its data kept, purged.
set -euo pipefail
package=$(readlink -f "$1") suite=${2:-bookworm}
here=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-$here/.venv/bin/python}
root=$(mktemp -d /tmp/tiphys-try-XXXXXX)
finish() {
  [ -z "${server:-}" ] || kill "$server" 2>/dev/null || true
  pkill -TERM -f "^[^ ]*python3 -I -m core.cli serve --settings /etc/tiphys/try-$$.toml" 2>/dev/null || true
  for place in dev/null proc; do mountpoint -q "$root/$place" && umount "$root/$place"; done
  rm -rf "$root"
}
trap finish EXIT
say() { printf '%5ss  %s\n' "$SECONDS" "$*"; }

if [ -n "${ROOT_TAR:-}" ]; then tar -xf "$ROOT_TAR" -C "$root"; else
  mmdebstrap --quiet --variant=minbase --include=ca-certificates "$suite" "$root" >/dev/null
fi
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
mount -t proc proc "$root/proc"
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"; chmod +x "$root/usr/sbin/policy-rc.d"
cp "$package" "$root/tmp/server.deb"
in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
say "a bare $suite"

in_root apt-get -qq update
in_root apt-get -qq install -y --no-install-recommends /tmp/server.deb >"$root/tmp/install.log" 2>&1 || { cat "$root/tmp/install.log"; exit 1; }
say "installed: $(in_root dpkg-query -Wf '${Installed-Size}' tiphys-server) kB"
[ "$(in_root stat -c '%U %a' /var/lib/tiphys)" = "tiphys 700" ]
in_root tiphys-server account list

settings=/etc/tiphys/try-$$.toml
port=$("$python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'port = %s\nself_signed = true\nlog_format = "json"\n' "$port" >"$root$settings"
started=$SECONDS
in_root tiphys-server serve --settings "$settings" >"$root/tmp/serve.log" 2>&1 & server=$!
until curl -fsk "https://127.0.0.1:$port/readyz" >/dev/null 2>&1; do
  kill -0 "$server" 2>/dev/null && [ $((SECONDS - started)) -lt 60 ] || { cat "$root/tmp/serve.log"; exit 1; }
  sleep 0.2
done
say "ready after $((SECONDS - started)) s"
in_root tiphys-server account invite li --role annotator --json | tee "$root/tmp/invitation.json" >/dev/null
PYTHONPATH=$here "$python" - "$root/tmp/invitation.json" <<'PY'
import asyncio, json, sys
from core.client.invitation import accept
from core.domain.invitation import parse_invitation
from core.store.accounts import make_token
joined = asyncio.run(accept(parse_invitation(json.load(open(sys.argv[1]))["link"]), make_token()))
assert joined.scopes == ("view", "guide", "review"), joined
PY
in_root tiphys-server account list
in_root tiphys-server backup --rotate
in_root tiphys-server restore --drill
say "joined by an invitation, backed up and drilled"

before=$(in_root sha256sum /var/lib/tiphys/server.key)
echo "# mine" >>"$root/etc/tiphys/server.toml"
in_root apt-get -qq install -y --reinstall --no-install-recommends /tmp/server.deb >"$root/tmp/install.log" 2>&1 || { cat "$root/tmp/install.log"; exit 1; }
[ "$before" = "$(in_root sha256sum /var/lib/tiphys/server.key)" ] && grep -q '^# mine' "$root/etc/tiphys/server.toml"
in_root tiphys-server account list | grep -q '^li '
say "installed over itself while it ran: data and settings are as they were"

pkill -TERM -P "$server" 2>/dev/null || true; kill "$server" 2>/dev/null || true
in_root apt-get -qq remove -y tiphys-server >/dev/null 2>&1
[ -f "$root/var/lib/tiphys/server.db" ] && [ -f "$root/etc/tiphys/server.toml" ] && [ ! -e "$root/usr/lib/tiphys-server" ]
say "removed: the data stays"
in_root apt-get -qq purge -y tiphys-server >/dev/null 2>&1
[ ! -e "$root/var/lib/tiphys" ] && ! in_root getent passwd tiphys >/dev/null && [ ! -e "$root/etc/logrotate.d/tiphys-server" ]
say "purged: nothing is left but backups"

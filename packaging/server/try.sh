#!/usr/bin/env bash
# Put the server's package to the test in a bare root of a distribution (needs root, mmdebstrap and the network):
#   packaging/server/try.sh PACKAGE [SUITE]      SUITE: bookworm (default), trixie; ROOT_TAR=FILE reuses a root
# the version before (this one under a lower number) installed, configured, served as its user under a notify socket,
# joined by an invitation, backed up and drilled, upgraded while a client follows a session, whose data and connection
# are kept, removed with its data kept, purged.
set -euo pipefail
package=$(readlink -f "$1") suite=${2:-bookworm}
here=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-$here/.venv/bin/python}
root=$(mktemp -d /tmp/tiphys-try-XXXXXX)
finish() {
  for one in ${server:-} ${client:-}; do kill "$one" 2>/dev/null || true; done
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
version=$(dpkg-deb -f "$package" Version)
dpkg-deb -R "$package" "$root/tmp/older"
sed -i "s/^Version: $version\$/Version: 0.0.1/" "$root/tmp/older/DEBIAN/control" \
  "$root"/tmp/older/usr/lib/tiphys-server/lib/python3/dist-packages/tiphys-*.dist-info/METADATA
dpkg-deb --root-owner-group -Zgzip -z1 -b "$root/tmp/older" "$root/tmp/older.deb" >/dev/null
in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
say "a bare $suite"

in_root apt-get -qq update
in_root apt-get -qq install -y --no-install-recommends /tmp/older.deb >"$root/tmp/install.log" 2>&1 || { cat "$root/tmp/install.log"; exit 1; }
in_root tiphys-server --version | grep -q 0.0.1
say "the version before installed: $(in_root dpkg-query -Wf '${Installed-Size}' tiphys-server) kB"
[ "$(in_root stat -c '%U %a' /var/lib/tiphys)" = "tiphys 700" ]
in_root tiphys-server account list

settings=/etc/tiphys/try-$$.toml
port=$("$python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'port = %s\nself_signed = true\nlog_format = "json"\n' "$port" >"$root$settings"
started=$SECONDS
serve() {
  in_root tiphys-server serve --settings "$settings" >"$root/tmp/serve.log" 2>&1 & server=$!
  until curl -fsk "https://127.0.0.1:$port/readyz" >/dev/null 2>&1; do
    kill -0 "$server" 2>/dev/null && [ $((SECONDS - started)) -lt 60 ] || { cat "$root/tmp/serve.log"; exit 1; }
    sleep 0.2
  done
}
serve
say "ready after $((SECONDS - started)) s"
in_root tiphys-server account invite li --role annotator --json | tee "$root/tmp/invitation.json" >/dev/null
cp "$here/tests/core/formats/foreign/claude.jsonl" "$root/tmp/run.jsonl"
in_root tiphys-server import /tmp/run.jsonl
# a client that stays: it says which version it meets, and how many sessions it holds
PYTHONPATH=$here "$python" - "$root/tmp/invitation.json" "$root/tmp" <<'PY' & client=$!
import asyncio, json, sys
from pathlib import Path
from core.client.client import Client
from core.client.invitation import accept
from core.client.replica import Replica
from core.domain.invitation import parse_invitation
from core.store.accounts import make_token

async def main() -> None:
    invitation, token = parse_invitation(json.load(open(sys.argv[1]))["link"]), make_token()
    joined = await accept(invitation, token)
    assert joined.scopes == ("view", "guide", "review"), joined
    folder = Path(sys.argv[2])
    replica = Replica(folder / "client.db")
    client = Client(replica, invitation.server, token)
    client.on_status.append(lambda s: s.state == "online" and (folder / "met").write_text(
        f"{s.program} {len(replica.rows())}\n"))
    await client.run()

asyncio.run(main())
PY
meets() {
  for _ in $(seq 150); do grep -q "$1" "$root/tmp/met" 2>/dev/null && return; sleep 0.2; done
  echo "The client met $(cat "$root/tmp/met" 2>/dev/null), not $1." >&2; exit 1
}
meets 0.0.1
in_root tiphys-server account list
in_root tiphys-server backup --rotate
in_root tiphys-server restore --drill
say "joined by an invitation, backed up and drilled"

before=$(in_root sha256sum /var/lib/tiphys/server.key)
echo "# mine" >>"$root/etc/tiphys/server.toml"
in_root apt-get -qq install -y --reinstall --no-install-recommends /tmp/server.deb >"$root/tmp/install.log" 2>&1 || { cat "$root/tmp/install.log"; exit 1; }
[ "$before" = "$(in_root sha256sum /var/lib/tiphys/server.key)" ] && grep -q '^# mine' "$root/etc/tiphys/server.toml"
in_root tiphys-server account list | grep -q '^li '
in_root tiphys-server --version | grep -q "$version"
pkill -TERM -P "$server"; wait "$server" || true   # as systemd does after the installation
started=$SECONDS
serve
meets "$version 2"
say "upgraded from 0.0.1 while a client was there: it came back by itself; sessions, accounts and settings are as they were"

kill "$client" 2>/dev/null || true
pkill -TERM -P "$server" 2>/dev/null || true; kill "$server" 2>/dev/null || true
in_root apt-get -qq remove -y tiphys-server >/dev/null 2>&1
[ -f "$root/var/lib/tiphys/server.db" ] && [ -f "$root/etc/tiphys/server.toml" ] && [ ! -e "$root/usr/lib/tiphys-server" ]
say "removed: the data stays"
in_root apt-get -qq purge -y tiphys-server >/dev/null 2>&1
[ ! -e "$root/var/lib/tiphys" ] && ! in_root getent passwd tiphys >/dev/null && [ ! -e "$root/etc/logrotate.d/tiphys-server" ]
say "purged: nothing is left but backups"

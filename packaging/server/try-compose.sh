#!/usr/bin/env bash
# Start compose.yaml for real, with the package of dist/, and go in as a client (needs an engine and docker-compose):
#   packaging/server/try-compose.sh [ROOT_TAR]     ROOT_TAR: a Debian 12 root, where no registry is reachable
# built, started, ready, joined by an invitation, restarted with its data; removed again with all that it made.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=$PWD python=${PYTHON:-$PWD/.venv/bin/python} name=tiphys-try-$$
image=$name/server base=$name/base
compose=(docker compose); docker compose version >/dev/null 2>&1 || compose=(docker-compose)
folder=$(mktemp -d)
finish() {
  "${compose[@]}" -p "$name" -f "$folder/compose.yaml" down -v --timeout 10 >/dev/null 2>&1 || true
  docker rmi -f "$image" "$base" >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap finish EXIT
say() { printf '%5ss  %s\n' "$SECONDS" "$*"; }

if [ -n "${1:-}" ]; then docker import "$1" "$base" >/dev/null; else
  mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm - | docker import - "$base" >/dev/null
fi
docker build -q -f packaging/server/Dockerfile --build-arg BASE="$base" -t "$image" dist >/dev/null 2>&1
say "built"
port=$("$python" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
cp packaging/server/server.toml "$folder/"
# the file as it is but for the image's name and the port outside, as others may work on this machine
sed -e "s|image: tiphys-server|image: $image|" -e '/build:/,/dockerfile:/d' -e "s|\"7717:7717\"|\"127.0.0.1:$port:7717\"|" \
  packaging/server/compose.yaml >"$folder/compose.yaml"
in_server() { "${compose[@]}" -p "$name" -f "$folder/compose.yaml" exec -T server /usr/lib/tiphys-server/bin/tiphys "$@"; }
up() {
  "${compose[@]}" -p "$name" -f "$folder/compose.yaml" "$@" >/dev/null 2>&1
  for _ in $(seq 150); do curl -fsk "https://127.0.0.1:$port/readyz" >/dev/null 2>&1 && return; sleep 0.2; done
  "${compose[@]}" -p "$name" -f "$folder/compose.yaml" logs; exit 1
}
up up -d
say "ready"
pin=$("${compose[@]}" -p "$name" -f "$folder/compose.yaml" logs server | grep -oE 'sha256=[0-9a-f]{64}' | head -1)
in_server account invite li --address "wss://127.0.0.1:$port#$pin" --json >"$folder/invitation.json"
PYTHONPATH=$here "$python" - "$folder/invitation.json" <<'PY'
import asyncio, json, sys, tempfile
from pathlib import Path
from core.client.client import Client
from core.client.invitation import accept
from core.client.replica import Replica
from core.domain.invitation import parse_invitation
from core.store.accounts import make_token

async def main() -> None:
    invitation, token = parse_invitation(json.load(open(sys.argv[1]))["link"]), make_token()
    await accept(invitation, token)
    with tempfile.TemporaryDirectory() as folder:
        replica = Replica(Path(folder) / "r.db")
        client = Client(replica, invitation.server, token)
        work = asyncio.ensure_future(client.run())
        async with asyncio.timeout(20):
            while client.status.state != "online":
                await asyncio.sleep(0.05)
        assert client.status.name == "li"
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        replica.close()

asyncio.run(main())
PY
say "a client came in by an invitation"
up restart
in_server account list | grep -q '^li '
say "restarted: its data is there"

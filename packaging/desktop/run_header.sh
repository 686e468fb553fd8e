#!/bin/sh
# Tiphys @version@ for one person, without root: it unpacks itself and touches nothing else.
#
#   sh tiphys_@version@_amd64.run [--prefix FOLDER]      into ~/.local, or FOLDER; again to bring another version
#   sh tiphys_@version@_amd64.run --uninstall            sessions and settings stay
set -eu
prefix=$HOME/.local remove=""
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ $# -gt 1 ] || { echo "--prefix needs a folder." >&2; exit 2; }; prefix=$2; shift ;;
    --uninstall) remove=yes ;;
    *) sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  esac
  shift
done
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
home=$prefix/lib/tiphys list=$prefix/lib/tiphys/installed-files     # a link to the newest version's folder

take_away() {  # what an installation put beside its own folder
  [ -f "$list" ] || return 0
  while IFS= read -r name; do
    rm -f "$prefix/$name"
    (cd "$prefix" && rmdir -p --ignore-fail-on-non-empty "$(dirname "$name")" 2>/dev/null) || true
  done <"$list"
}
clear_up() {  # every version that is not to stay and that nothing runs from
  for version in "$prefix"/lib/tiphys-[0-9]*; do
    if [ -d "$version" ] && [ "$version" != "$1" ]; then
      case $(readlink /proc/[0-9]*/exe 2>/dev/null || true) in
        *"$version/"*) echo "Tiphys is running: its windows offer to start again, and keep their version until then." >&2 ;;
        *) rm -rf "$version" ;;
      esac
    fi
  done
}
tell_the_desktop() {
  command -v update-desktop-database >/dev/null && update-desktop-database -q "$prefix/share/applications" || true
  command -v update-mime-database >/dev/null && update-mime-database "$prefix/share/mime" >/dev/null 2>&1 || true
}

if [ -n "$remove" ]; then
  take_away
  rm -rf "$home" "$prefix"/lib/tiphys-[0-9]*
  tell_the_desktop
  echo "Removed from $prefix."
  exit 0
fi
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "This is for Linux on x86-64." >&2; exit 1; }

new=$prefix/lib/.tiphys-new
mkdir -p "$prefix/lib"
rm -rf "$new"
trap 'rm -rf "$new"' EXIT
mkdir "$new"
echo "Unpacking into $home"
tail -c +@first@ "$0" | head -c @small@ | gzip -dc | tar -xf - -C "$new"
python=$new/lib/tiphys-@version@/bin/python3
"$python" -I -c "import ssl, ctypes" 2>/dev/null || {
  "$python" -I -c "import ssl, ctypes" 2>&1 | tail -n 1 >&2
  echo "Libraries of the system are missing: sudo apt-get install libexpat1 zlib1g libssl3 libffi8 (Debian 12 or newer)" >&2
  exit 1
}
tail -c +@second@ "$0" | "$python" -I -c '
import sys, tarfile
from backports.zstd import ZstdFile
tarfile.open(fileobj=ZstdFile(sys.stdin.buffer), mode="r|").extractall(sys.argv[1])' "$new"

# The second installation replaces the first only when it is complete.
take_away
rm -rf "$home-@version@"
mv "$new/lib/tiphys-@version@" "$home-@version@"
[ -L "$home" ] || rm -rf "$home"
ln -sfn "tiphys-@version@" "$home"
clear_up "$home-@version@"
(cd "$new" && find bin share \( -type f -o -type l \) | sort) >"$list"
(cd "$new" && tar -cf - bin share) | tar -xf - -C "$prefix"
entry=$prefix/share/applications/tiphys.desktop
sed "s#^Exec=tiphys #Exec=\"$prefix/bin/tiphys\" #" "$entry" >"$entry.new" && mv "$entry.new" "$entry"
tell_the_desktop
"$home/bin/python3" -I -m core.cli.system_libraries || true
case :$PATH: in *":$prefix/bin:"*) ;; *) echo "$prefix/bin is not in your PATH." >&2 ;; esac
echo "Installed. Start it with $prefix/bin/tiphys, or from the menu."
exit 0

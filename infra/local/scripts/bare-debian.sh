#!/usr/bin/env bash
# Tries `npm start` and `npm test` on a bare machine: a Debian folder with nothing in it but ca-certificates, this
# machine's Node and npm, and a fresh clone of this repository. Prints how long each step took.
#
#   sudo infra/local/scripts/bare-debian.sh [folder]
#
#   folder          is made, and left for a look (without mounts); without it a temporary one, deleted at the end
#   STEPS=...       which of: stack start test (default "start test")
#   SUITE=bookworm  MIRROR=<url>    default: what this machine uses
#
# Needs root and debootstrap. It uses the network namespace of this machine: ports as with `npm start`.
set -euo pipefail

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
  echo 'This needs root and debootstrap (apt-get install debootstrap).' >&2
  exit 2
fi

cat_sources() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list /etc/apt/sources.list.d/*.sources 2>/dev/null || true
}

repository=$(cd "$(dirname "$0")/../../.." && pwd)
folder=${1:-$(mktemp -d /var/tmp/sparkroom-bare.XXXXXX)}
folder=$(realpath -m "$folder")
temporary=$([ $# = 0 ] && echo yes || true)
suite=${SUITE:-bookworm}
steps=${STEPS:-start test}
mirror=${MIRROR:-$(cat_sources | sed -nE 's/^(URIs:|deb( \[[^]]*\])?) +([^ ]+).*/\3/p' | head -1)}
mounts=(proc dev/pts dev/shm dev sys)
launched=
declare -a report=()

cleanup() {
  set +e
  if [ -n "$launched" ]; then
    # Only what runs inside the folder is ours.
    for root in /proc/[0-9]*/root; do
      [ "$(readlink "$root" 2>/dev/null)" = "$folder" ] && kill -9 "$(basename "$(dirname "$root")")" 2>/dev/null
    done
    sleep 1
  fi
  for mount in "${mounts[@]}"; do
    mountpoint -q "$folder/$mount" && { umount "$folder/$mount" || umount -l "$folder/$mount"; }
  done
  # Never delete through a mount that would not go.
  if [ -n "$temporary" ] && ! grep -q " $folder/" /proc/mounts; then rm -rf --one-file-system "$folder"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM

timed() { # timed <name> <command...>; a command that fails is noted and ends the run
  local name=$1 began=$SECONDS
  shift
  echo "== $name"
  if "$@"; then
    note $((SECONDS - began)) "$name"
  else
    note $((SECONDS - began)) "$name: FAILED"
    print_report
    exit 1
  fi
}

note() { # note <seconds> <what>
  report+=("$(printf '%5d s  %s' "$1" "$2")")
}

print_report() {
  echo
  printf '%s\n' "${report[@]}"
}

inside() { # inside <command line>, in the clone, with an environment as after a fresh login
  chroot "$folder" /usr/bin/env -i HOME=/root LANG=C.UTF-8 TERM=dumb CI=1 \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${NODE_EXTRA_CA_CERTS:+NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt} \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} ${no_proxy:+no_proxy="$no_proxy"} \
    /bin/bash -c "cd /root/sparkroom && $1"
}

make_system() {
  [ -x "$folder/usr/bin/apt-get" ] && return
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$folder" "$mirror" >"$folder.log" 2>&1 ||
    { tail -20 "$folder.log" >&2; exit 1; }
  rm -f "$folder.log"
}

# What this machine needs to reach its package servers: sources, certificates, names, npm's settings.
copy_settings() {
  local file
  rm -rf "$folder/etc/apt/sources.list" "$folder/etc/apt/sources.list.d"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d /etc/apt/apt.conf /etc/apt/apt.conf.d /etc/apt/auth.conf.d \
    /etc/apt/keyrings /usr/share/keyrings /etc/apt/trusted.gpg.d /etc/resolv.conf /etc/hosts /etc/npmrc /usr/etc/npmrc \
    /usr/local/etc/npmrc /root/.npmrc /usr/local/share/ca-certificates /etc/ssl/certs/ca-certificates.crt; do
    [ -e "$file" ] || continue
    mkdir -p "$folder$(dirname "$file")"
    cp -rL --remove-destination "$file" "$folder$(dirname "$file")/"
  done
  # Package lists and archives are not copied: a bare machine has none.
  rm -rf "$folder"/var/lib/apt/lists/*
}

copy_node() {
  local node npm
  node=$(realpath "$(PATH=$(echo "$PATH" | tr ':' '\n' | grep -v node_modules | paste -sd:) bash -c 'command -v node')")
  npm=$(dirname "$(dirname "$(realpath "$(dirname "$node")/npm")")")
  install -D "$node" "$folder/usr/bin/node"
  # Libraries a distribution's Node is linked with and a bare system lacks.
  ldd "$node" | sed -nE 's/.*=> (\/[^ ]+).*/\1/p' | while read -r library; do
    [ -e "$folder$library" ] || install -D "$(realpath "$library")" "$folder$library"
  done
  mkdir -p "$folder/usr/lib/node_modules"
  rm -rf "$folder/usr/lib/node_modules/npm"
  cp -rL "$npm" "$folder/usr/lib/node_modules/npm"
  # A distribution's npm may keep its own modules elsewhere.
  [ -d /usr/share/nodejs ] && [ "${npm#/usr/share}" != "$npm" ] && cp -r /usr/share/nodejs "$folder/usr/share/"
  ln -sf ../lib/node_modules/npm/bin/npm-cli.js "$folder/usr/bin/npm"
  ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$folder/usr/bin/npx"
}

clone() {
  rm -rf "$folder/root/sparkroom"
  git clone -q --no-hardlinks "$repository" "$folder/root/sparkroom"
}

mount_system() {
  mount -t proc proc "$folder/proc"
  mount --bind /dev "$folder/dev"
  mount -t devpts -o newinstance,ptmxmode=0666 devpts "$folder/dev/pts"
  mount -t tmpfs -o mode=1777 tmpfs "$folder/dev/shm"
  mount --bind /sys "$folder/sys"
  mount -o remount,ro,bind "$folder/sys"
}

# Runs `npm <command>` until it prints <words>, then stops it as a Ctrl-C would.
until_ready() { # until_ready <npm command> <words>
  local log=$folder/root/run.log began=$SECONDS
  : >"$log"
  inside "exec npm $1" >"$log" 2>&1 &
  local pid=$!
  tail -f --pid=$pid "$log" &
  until grep -q "$2" "$log"; do
    kill -0 $pid 2>/dev/null || { wait $pid || true; echo "npm $1 ended before it was ready" >&2; return 1; }
    sleep 0.2
  done
  note $((SECONDS - began)) "npm $1: ready"
  kill -TERM "$(launcher_pid)"
  local waited=0
  while kill -0 $pid 2>/dev/null && [ $waited -lt 300 ]; do
    sleep 0.1
    waited=$((waited + 1))
  done
  wait $pid || true
}

launcher_pid() {
  sed -nE 's/.*"pid":([0-9]+).*/\1/p' "$folder/root/sparkroom/.sparkroom/run/launcher.json"
}

timed 'bare system (debootstrap)' make_system
copy_settings
copy_node
clone
mount_system
launched=yes
echo "Node $(chroot "$folder" node --version), npm $(chroot "$folder" npm --version), $(cat "$folder/etc/debian_version")"

for step in $steps; do
  case $step in
    stack) timed 'npm run stack, from nothing, and stopped' until_ready 'run stack' 'the stores are ready' ;;
    start)
      timed 'npm start, from nothing, and stopped' until_ready start 'Sparkroom is ready'
      timed 'npm start, again, and stopped' until_ready start 'Sparkroom is ready'
      ;;
    test) timed 'npm test' inside 'npm test' ;;
    *) echo "Unknown step $step" >&2; exit 2 ;;
  esac
done

print_report

#!/bin/sh
# Draws the secrets of docker-compose.yml into ./secrets, one file each. Those that are there stay, but for REDIS_URLS.
#
#   ops/secrets.sh             for the four Redis that always run
#   ops/secrets.sh sentinel    for the profile `sentinel`
set -eu
cd "$(dirname "$0")/.."
# The folder is its owner's alone. The files are mounted one by one, and each container has a user of its own.
umask 022
mkdir -p secrets
chmod 700 secrets
keep() {
  printf '%s' "$2" >"secrets/$1.new"
  mv "secrets/$1.new" "secrets/$1"
}
draw() { [ -e "secrets/$1" ] || keep "$1" "$2"; }
hex() { od -An -v -tx1 -N"$1" /dev/urandom | tr -d ' \n'; }

draw postgres_password "$(hex 24)"
draw redis_password "$(hex 24)"
draw key_secret "$(hex 16)"
draw admin_api_key "lm_$(hex 24)"
draw database_url "postgres://linkmint:$(cat secrets/postgres_password)@postgres:5432/linkmint"

password=$(cat secrets/redis_password)
urls=
for pool in 1 2 3 4; do
  case "${1:-}" in
    sentinel) url="redis+sentinel://:$password@sentinel-1,sentinel-2,sentinel-3/pool-$pool" ;;
    *) url="redis://:$password@redis-$pool" ;;
  esac
  urls="${urls:+$urls,}$url"
done
keep redis_urls "$urls"

#!/bin/sh
# Runs a Sentinel for the pools of a cluster: sentinel.sh FOLDER PORT PRIMARY_HOST:PRIMARY_PORT...
#
# The primaries are pool-1, pool-2 and so on, in the order given. Give addresses rather than names: the name of a container that
# has stopped cannot be resolved, and then Redis 7's Sentinels do not put another in its place. The configuration
# file is written once; from then on the Sentinel keeps in it what it knows.
#   BIND          the address to listen at; without it all, for everybody
#   REDIS_PASSWORD_FILE  holds the password of the servers that it watches
#   REDIS_SERVER  the program
set -eu
folder=$1 port=$2
shift 2
config=$folder/sentinel.conf
if [ ! -e "$config" ]; then
  {
    echo "port $port"
    echo "dir \"$folder\""
    if [ -n "${BIND:-}" ]; then echo "bind $BIND"; else echo "protected-mode no"; fi
    pool=0
    for primary in "$@"; do
      pool=$((pool + 1))
      # Two of three Sentinels decide, 2 s after they last heard of it; what has not come through in 10 s is tried anew.
      echo "sentinel monitor pool-$pool ${primary%:*} ${primary##*:} 2"
      echo "sentinel down-after-milliseconds pool-$pool 2000"
      echo "sentinel failover-timeout pool-$pool 10000"
    done
  } >"$config.new"
  mv "$config.new" "$config"
fi
if [ -n "${REDIS_PASSWORD_FILE:-}" ]; then
  password=$(cat "$REDIS_PASSWORD_FILE")
  # Also for the Sentinel, which writes the file anew.
  umask 077
  sed '/^sentinel auth-pass /d' "$config" >"$config.new"
  pool=0
  for primary in "$@"; do
    pool=$((pool + 1))
    printf 'sentinel auth-pass pool-%s "%s"\n' "$pool" "$password" >>"$config.new"
  done
  mv "$config.new" "$config"
fi
exec ${REDIS_SERVER:-redis-server} "$config" --sentinel

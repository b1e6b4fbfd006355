#!/bin/sh
# Runs a Redis of a cluster: server.sh FOLDER PORT [PRIMARY_HOST PRIMARY_PORT]
#
# The configuration file is written once. Under Sentinels it is Redis' own from then on: a server that was put in another's
# place, or out of it, writes that down there and must find it again.
#   BIND          the address to listen at; without it all, for everybody
#   REDIS_PASSWORD_FILE  holds the password that it asks for, and gives to its primary
#   REDIS_SERVER  the program
set -eu
folder=$1 port=$2
config=$folder/redis.conf
if [ ! -e "$config" ]; then
  {
    echo "include \"$(cd "$(dirname "$0")" && pwd)/redis.conf\""
    echo "port $port"
    echo "dir \"$folder\""
    if [ -n "${BIND:-}" ]; then echo "bind $BIND"; else echo "protected-mode no"; fi
    if [ $# -eq 4 ]; then echo "replicaof $3 $4"; fi
  } >"$config.new"
  mv "$config.new" "$config"
fi
if [ -n "${REDIS_PASSWORD_FILE:-}" ]; then
  password=$(cat "$REDIS_PASSWORD_FILE")
  # Also for what Redis itself writes: the file, with the password in it, when a Sentinel has it written anew.
  umask 077
  # Then the password's hash is in it as well, as a user's, which would take precedence over `requirepass`.
  sed '/^\(requirepass\|masterauth\|user default\) /d' "$config" >"$config.new"
  printf 'requirepass "%s"\nmasterauth "%s"\n' "$password" "$password" >>"$config.new"
  mv "$config.new" "$config"
fi
exec ${REDIS_SERVER:-redis-server} "$config"

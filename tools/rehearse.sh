#!/usr/bin/env bash
# What a newcomer does, from nothing: a clone of the last commit in an empty folder, an empty npm cache, and the Node that comes first on
# the PATH (an older one will do). Prints how long each command took and keeps the folder only when something failed.
#   tools/rehearse.sh [repository] [start|test|verify ...]
set -uo pipefail
source_repository=${1:-$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)}
shift || true
commands=("$@")
[ "${#commands[@]}" -gt 0 ] || commands=(start test verify)

folder=$(mktemp -d)
# Programs of the workspace must not leak into the rehearsal.
PATH=$(printf '%s' "$PATH" | tr ':' '\n' | grep -v '/node_modules/.bin$' | paste -sd:)
export PATH npm_config_cache=$folder/cache
unset KEELSON_SEED KEELSON_TIER KEELSON_REQUIRE_SHARED KEELSON_REQUIRE_RESTATE KEELSON_REQUIRE_POSTGRES KEELSON_REQUIRE_MCP_PEERS
echo "rehearsal of $(git -C "$source_repository" rev-parse --short HEAD) in $folder, Node $(node -v), npm $(npm -v)"

failed=0
rehearse() {
  local name=$1 clone=$folder/$1 started=$SECONDS
  git clone --quiet "$source_repository" "$clone" || return 1
  rm -rf "$folder/cache"
  case $name in
    start) (cd "$clone" && npm ci && npm start) ;;
    test) (cd "$clone" && npm ci && npm test) ;;
    *) (cd "$clone" && npm ci && npm run "$name") ;;
  esac >"$folder/$name.log" 2>&1
  local code=$?
  printf '%s npm ci && npm %s (%d s)\n' "$([ $code -eq 0 ] && echo 'ok  ' || echo FAIL)" "$name" $((SECONDS - started))
  if [ $code -ne 0 ]; then
    tail -60 "$folder/$name.log"
    failed=1
  elif [ -n "$(git -C "$clone" status --porcelain)" ]; then
    echo "FAIL npm $name left changes behind:"
    git -C "$clone" status --porcelain
    failed=1
  fi
}
for name in "${commands[@]}"; do rehearse "$name"; done

if [ $failed -eq 0 ]; then rm -rf "$folder"; else echo "kept: $folder"; fi
exit $failed

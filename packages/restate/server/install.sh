#!/usr/bin/env bash
# Installs the server of Restate (215 MB) for the tests of this package; `npm ci` of the workspace does not.
# Its licence (BSL 1.1) lets it be used so; nothing of it is part of what is published.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
export DO_NOT_TRACK=1 SCARF_ANALYTICS=false
# No install scripts: the one that there is counts installations.
npm ci --ignore-scripts --no-audit --no-fund

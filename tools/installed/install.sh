#!/usr/bin/env bash
# Installs the oldest Node that the packages support, pnpm and esbuild (210 MB), for the checks of the packed packages; `npm ci` of the workspace does not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
npm ci --ignore-scripts --no-audit --no-fund

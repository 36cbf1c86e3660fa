#!/usr/bin/env bash
# Installs the conformance suite of the Model Context Protocol, and clients and servers of others (175 MB), for tests of keelson/mcp; `npm ci` of the
# workspace does not.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
npm ci --ignore-scripts --no-audit --no-fund

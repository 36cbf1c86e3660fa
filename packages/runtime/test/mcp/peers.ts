import { existsSync } from "node:fs";
import { join } from "node:path";

const installed: string = join(import.meta.dirname, "peers/node_modules");
/** Clients and servers of others, and the conformance suite; a project of its own. */
export const peers: string = join(installed, "@modelcontextprotocol");
/** A server that works a browser. */
export const playwright: string = join(installed, "@playwright/mcp/cli.js");

const isThere = ["inspector", "sdk", "server-everything", "server-filesystem", "server-memory"].every((name) =>
  existsSync(join(peers, name)),
);
if (!isThere && process.env["KEELSON_REQUIRE_MCP_PEERS"] === "1")
  throw new Error(`There are no clients and servers of others at ${peers}: run \`packages/runtime/test/mcp/peers/install.sh\`.`);

/** For `describe.skipIf`: they are not part of `npm ci`. */
export const isWithoutPeers: boolean = !isThere;

/** Appended to the titles of what needs them. */
export const needsPeers: string = isThere ? "" : " (skipped: no peers; run packages/runtime/test/mcp/peers/install.sh)";

/** Where Debian's package puts it. */
export const chromium = "/usr/bin/chromium";
const hasChromium = existsSync(chromium);
if (!hasChromium && process.env["KEELSON_REQUIRE_CHROMIUM"] === "1")
  throw new Error(`KEELSON_REQUIRE_CHROMIUM is set, and there is no ${chromium}: install chromium.`);
const hasBrowser = hasChromium && existsSync(playwright);
export const isWithoutBrowser: boolean = !hasBrowser;
export const needsBrowser: string = hasBrowser
  ? ""
  : ` (skipped: no ${hasChromium ? "peers; run their install.sh" : `${chromium}; install chromium`})`;

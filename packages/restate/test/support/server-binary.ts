import { existsSync } from "node:fs";
import { arch, platform } from "node:os";
import { join, resolve } from "node:path";

/** The server's own program: the script of the package would keep signals from it. */
export const serverBinary: string = join(
  resolve(import.meta.dirname, "../../server/node_modules/@restatedev"),
  `restate-server-${platform()}-${arch()}/bin/restate-server`,
);

const isThere = existsSync(serverBinary);
if (!isThere && process.env["KEELSON_REQUIRE_RESTATE"] === "1")
  throw new Error(`There is no Restate server at ${serverBinary}: run \`packages/restate/server/install.sh\`.`);

/** For `describe.skipIf`: the server is not part of `npm ci`. */
export const isWithoutServer: boolean = !isThere;

/** Appended to the titles of what needs the server. */
export const needsServer: string = isThere ? "" : " (skipped: no server; run packages/restate/server/install.sh)";

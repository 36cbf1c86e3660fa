import { constants } from "node:fs";
import { link, open, rm, type FileHandle } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AgentError } from "@keelson/protocol";
import { makeFolder } from "../../../platform/make-folder.ts";
import { checkApprovalKeys, invalidApprovalKeys, newApprovalKey, type ApprovalKey, type ApprovalKeys } from "../../turn/approval-keys.ts";

/**
 * The keys kept in `directory` (the file `approval-keys.json`, readable by its owner alone), made by whichever process comes
 * first. Every process that uses the directory gets the same ones.
 * @throws AgentError of kind `invalid-option` when others could read the file, of kind `backend` when it can't be used
 */
export async function loadApprovalKeys(directory: string): Promise<ApprovalKeys> {
  const path = join(directory, "approval-keys.json");
  try {
    return (await readKeys(path)) ?? (await createKeys(directory, path));
  } catch (error) {
    if (AgentError.is(error)) throw error;
    throw new AgentError(
      {
        kind: "backend",
        message: `The approval keys at ${path} could not be read or made: ${error instanceof Error ? error.message : String(error)}`,
      },
      { cause: error },
    );
  }
}

async function createKeys(directory: string, path: string): Promise<ApprovalKeys> {
  makeFolder(resolve(directory), 0o700);
  const { id, secret } = newApprovalKey();
  const content = JSON.stringify({ v: 1, current: { id, secret: Buffer.from(secret).toString("base64url") }, previous: [] });
  // A hard link appears whole or not at all, and never replaces the file of a process that was faster.
  const draft = `${path}.${process.pid}.${id}`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(`${content}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(draft, path).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  const keys = await readKeys(path);
  if (keys === undefined)
    throw new AgentError({
      kind: "backend",
      message: `The approval keys at ${path} vanished while they were made: something else deletes files in ${directory}.`,
    });
  return keys;
}

async function readKeys(path: string): Promise<ApprovalKeys | undefined> {
  let file: FileHandle;
  try {
    // What is no file, a pipe for one, must not be waited for.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  try {
    if (!(await file.stat()).isFile()) throw invalidApprovalKeys(`The approval keys at ${path} are no file. Use a directory of your own.`);
    await refuseShared(file, path);
    return parseKeys(await file.readFile("utf8"), path);
  } finally {
    await file.close();
  }
}

async function refuseShared(file: FileHandle, path: string): Promise<void> {
  // Windows keeps no such bits.
  if (process.platform === "win32") return;
  const { mode, uid } = await file.stat();
  if ((mode & 0o077) !== 0) {
    throw invalidApprovalKeys(
      `Others may read or change the approval keys at ${path} (mode ${(mode & 0o777).toString(8)}), and could approve tool calls with them. Run: chmod 600 ${path} (or delete the file for new keys).`,
    );
  }
  const self = process.getuid?.();
  if (self !== undefined && self !== 0 && uid !== self)
    throw invalidApprovalKeys(
      `The approval keys at ${path} belong to user ${uid}, not to ${self}, who runs this. Use a directory of your own.`,
    );
}

function parseKeys(text: string, path: string): ApprovalKeys {
  const damaged = (problem: string, cause?: unknown): AgentError =>
    new AgentError(
      {
        kind: "backend",
        message: `The approval keys at ${path} ${problem}. Delete the file to make new ones: open approval tokens then stop working.`,
      },
      { cause },
    );
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch (error) {
    throw damaged("are no JSON", error);
  }
  const { v, current, previous = [] } = (data ?? {}) as { v?: unknown; current?: unknown; previous?: unknown };
  if (v !== 1) throw damaged(`have the format version ${JSON.stringify(v) ?? "none"}, and this version of Keelson reads 1`);
  if (!Array.isArray(previous)) throw damaged("have no list of previous keys");
  const read = (key: unknown): ApprovalKey => {
    const { id, secret } = (key ?? {}) as { id?: unknown; secret?: unknown };
    if (typeof id !== "string" || typeof secret !== "string") throw damaged("hold a key without an id or a secret");
    return { id, secret: new Uint8Array(Buffer.from(secret, "base64url")) };
  };
  const keys: ApprovalKeys = { current: read(current), previous: previous.map(read) };
  try {
    checkApprovalKeys(keys);
  } catch (error) {
    throw damaged(`hold a key that can't be used (${(error as Error).message})`, error);
  }
  return keys;
}

import { dirname, resolve } from "node:path";
import { AgentError } from "@keelson/protocol";
import { makeFolder } from "../../platform/make-folder.ts";
import { createPrivateFile, readPrivateFile } from "../../platform/private-file.ts";
import { checkKeys, newKey, type Keys, type KeyTerms } from "./keys.ts";

/** Some hundreds of keys. */
const MAX_FILE_BYTES = 64 * 1024;

export interface KeyFileTerms extends KeyTerms {
  /** What is lost with the file, as in "open approval tokens then stop working". */
  readonly lost: string;
}

const SEALING: KeyFileTerms = { option: "keys", name: "key", lost: "what they sealed can't be opened then" };

/**
 * The keys kept in a file that its owner alone may read, made by whichever process comes first. Every process that uses the file gets
 * the same ones: `createKeyRing(await loadKeys(path))`. Keep a copy: what was sealed with lost keys is lost.
 * @throws AgentError of kind `invalid-option` when others could read the file, of kind `backend` when it can't be used
 */
export async function loadKeys(path: string, terms: KeyFileTerms = SEALING): Promise<Keys> {
  try {
    return (await readKeys(path, terms)) ?? (await createKeys(path, terms));
  } catch (error) {
    if (AgentError.is(error)) throw error;
    throw backend(
      `The ${terms.name}s at ${path} could not be read or made: ${error instanceof Error ? error.message : String(error)}`,
      error,
    );
  }
}

async function createKeys(path: string, terms: KeyFileTerms): Promise<Keys> {
  makeFolder(dirname(resolve(path)), 0o700);
  await createPrivateFile(path, textOf({ current: newKey() }));
  const keys = await readKeys(path, terms);
  if (keys === undefined)
    throw backend(`The ${terms.name}s at ${path} vanished while they were made: something else deletes files in ${dirname(path)}.`);
  return keys;
}

/** The content of a file of keys. */
export function textOf({ current, previous = [] }: Keys): string {
  const written = ({ id, secret }: Keys["current"]): object => ({ id, secret: Buffer.from(secret).toString("base64url") });
  return `${JSON.stringify({ v: 1, current: written(current), previous: previous.map(written) })}\n`;
}

async function readKeys(path: string, terms: KeyFileTerms): Promise<Keys | undefined> {
  const { option, name } = terms;
  const bytes = await readPrivateFile(path, {
    maxBytes: MAX_FILE_BYTES,
    refuse: (problem) =>
      new AgentError({
        kind: "invalid-option",
        option,
        message: `The file of the ${name}s at ${path} ${problem}. Whoever has the keys can do what they are for: use a file of your own, or delete this one for new keys.`,
      }),
  });
  return bytes === undefined ? undefined : parseKeys(bytes.toString("utf8"), path, terms);
}

function parseKeys(text: string, path: string, { name, option, lost }: KeyFileTerms): Keys {
  // Never with a cause: the error of a parser quotes what it read.
  const damaged = (problem: string): AgentError =>
    backend(`The ${name}s at ${path} ${problem}. Delete the file to make new ones: ${lost}.`);
  const data = parsed(text);
  if (data === undefined) throw damaged("are no JSON");
  const { v, current, previous = [] } = (data ?? {}) as { v?: unknown; current?: unknown; previous?: unknown };
  if (v !== 1) throw damaged(`have the format version ${JSON.stringify(v) ?? "none"}, and this version of Keelson reads 1`);
  if (!Array.isArray(previous)) throw damaged("have no list of previous keys");
  const read = (key: unknown): Keys["current"] => {
    const { id, secret } = (key ?? {}) as { id?: unknown; secret?: unknown };
    if (typeof id !== "string" || typeof secret !== "string") throw damaged("hold a key without an id or a secret");
    return { id, secret: new Uint8Array(Buffer.from(secret, "base64url")) };
  };
  const keys: Keys = { current: read(current), previous: previous.map(read) };
  try {
    checkKeys(keys, { option, name });
  } catch (error) {
    throw damaged(`hold a key that can't be used (${(error as Error).message})`);
  }
  return keys;
}

/** `undefined` for what is no JSON, which has no such value. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function backend(message: string, cause?: unknown): AgentError {
  return new AgentError({ kind: "backend", message }, { cause });
}

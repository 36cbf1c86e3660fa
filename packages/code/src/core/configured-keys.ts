import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "@keelson/protocol";
import { createProcessExecutor } from "keelson/environment";
import type { KnownSecrets } from "./known-secrets.ts";

/** The name of the file in the home folder of Keelson. Only its owner may read it. */
export const KEYS_FILE = "keys.json";

/** The keys of the file, by the variable that they replace. They are never put into the environment of this process. */
export type ConfiguredKeys = ReadonlyMap<string, ConfiguredKey>;

export interface ConfiguredKey {
  /** The place that it is read from: the file itself, the keyring, a command. */
  readonly source: "file" | "keyring" | "command";
  /** Asks for it once, when it is first used. */
  read(): Promise<string>;
}

const MAX_BYTES = 256 * 1024;
const COMMAND_MS = 120_000;
const FORMS = 'a text, { "keyring": "account" } or { "command": ["program", "argument"] }';

/** Path of the file, whether or not there is one. */
export function keysFile({ path }: { readonly path: string }): string {
  return join(path, KEYS_FILE);
}

/**
 * Reads the file of keys; none where there is no file.
 * @throws AgentError of kind `backend` if others can read it or it does not hold what it should. No value of it is repeated.
 */
export async function readConfiguredKeys(home: { readonly path: string }, secrets: KnownSecrets): Promise<ConfiguredKeys> {
  const file = keysFile(home);
  const text = await readOwnFile(file);
  if (text === undefined) return new Map();
  let entries: unknown;
  try {
    entries = JSON.parse(text);
  } catch {
    throw unusable(file, "it is no JSON.");
  }
  if (!isObject(entries)) throw unusable(file, `it must be an object of variables, each with ${FORMS}.`);
  return new Map(Object.entries(entries).map(([name, entry]) => [name, keyOf(file, name, entry, secrets)]));
}

async function readOwnFile(file: string): Promise<string | undefined> {
  try {
    // Opening a pipe would wait for its writer.
    await using opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stats = await opened.stat();
    if (!stats.isFile()) throw unusable(file, "it is no file.");
    if (stats.size > MAX_BYTES) throw unusable(file, `it is longer than ${MAX_BYTES} bytes.`);
    const problem = permissionProblem(file, stats);
    if (problem !== undefined) throw unusable(file, problem);
    return await opened.readFile("utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    if (AgentError.is(error)) throw error;
    throw unusable(file, error instanceof Error ? error.message : String(error));
  }
}

/** The reason not to use a file of keys: others than its owner can read or change it. */
function permissionProblem(file: string, { mode, uid }: { readonly mode: number; readonly uid: number }): string | undefined {
  // Windows keeps no such bits.
  if (process.platform === "win32") return undefined;
  if (uid !== process.getuid?.()) return "it belongs to another user.";
  if ((mode & 0o077) === 0) return undefined;
  return `others than you can read or change it (mode ${(mode & 0o777).toString(8)}). Run: chmod 600 ${file}`;
}

function keyOf(file: string, name: string, entry: unknown, secrets: KnownSecrets): ConfiguredKey {
  if (typeof entry === "string") {
    secrets.learn(name, entry);
    return { source: "file", read: async () => entry };
  }
  const { keyring, command, ...others } = isObject(entry) ? entry : {};
  const hasOne = isObject(entry) && (keyring === undefined) !== (command === undefined) && Object.keys(others).length === 0;
  const program = typeof keyring === "string" && keyring !== "" ? keyringCommand(file, keyring) : command;
  if (!hasOne || !isProgram(program)) throw unusable(file, `${JSON.stringify(name)} must be ${FORMS}.`);
  let asked: Promise<string> | undefined;
  return {
    source: keyring === undefined ? "command" : "keyring",
    read() {
      asked ??= printed(file, name, program).then(
        (value) => {
          secrets.learn(name, value);
          return value;
        },
        (error: unknown) => {
          // A person may unlock it, and go on.
          asked = undefined;
          throw error;
        },
      );
      return asked;
    },
  };
}

/** The program of this system that prints an entry of the keyring. */
function keyringCommand(file: string, account: string): readonly string[] {
  if (process.platform === "darwin") return ["security", "find-generic-password", "-s", "keelson", "-a", account, "-w"];
  if (process.platform === "linux") return ["secret-tool", "lookup", "service", "keelson", "account", account];
  throw unusable(file, `no keyring is known on ${process.platform}. Give a "command" that prints the key.`);
}

async function printed(file: string, name: string, [program = "", ...args]: readonly string[]): Promise<string> {
  const shown = `The key ${name} of ${file} can't be read: ${program}`;
  // The person's own command may need whatever their shell has.
  const exec = createProcessExecutor({ cwd: process.cwd(), passSecrets: "all", maxOutputBytes: MAX_BYTES });
  const { exitCode, stdout } = await exec.execute({ program, args, timeoutMs: COMMAND_MS }).catch((error: unknown) => {
    throw new AgentError(
      { kind: "backend", message: `${shown} did not start. Install it, or change the entry.` },
      { cause: error instanceof Error ? error : undefined },
    );
  });
  // Its output may be the key, in an error too: nothing of it is repeated.
  if (exitCode !== 0)
    throw new AgentError({
      kind: "backend",
      message: `${shown} ended with ${exitCode === null ? "a signal" : `exit code ${exitCode}`}. Run it by hand to see the reason.`,
    });
  const value = stdout.replace(/\r?\n$/, "");
  if (value === "" || value.includes("\n"))
    throw new AgentError({ kind: "backend", message: `${shown} printed ${value === "" ? "nothing" : "more than one line"}.` });
  return value;
}

function isProgram(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((word) => typeof word === "string") && value[0] !== "";
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unusable(file: string, why: string): AgentError {
  return new AgentError({ kind: "backend", message: `The file of keys ${file} can't be used: ${why}` });
}

import { readFile } from "node:fs/promises";
import { StateError } from "@keelson/protocol";
import type { StateEntry } from "../kit/state-entry.ts";
import type { EntryFields, EntryFormat } from "./entry-format.ts";

/** @returns `undefined` where there is no such file. @throws StateError `corrupt` */
export async function readEntry(path: string, format: EntryFormat): Promise<StateEntry | undefined> {
  const read = await readFields(path, format);
  if (read === undefined) return undefined;
  const { version, value, metadata, expiresAt, tier, lifetime, contentKind, salience } = read;
  if (typeof version !== "number" || value === undefined) throw corrupt(path, "it has no version or no value");
  return {
    version,
    value: JSON.stringify(value),
    metadata: metadata === undefined ? undefined : JSON.stringify(metadata),
    expiresAt: typeof expiresAt === "number" ? expiresAt : undefined,
    tier: wordIn(tier),
    lifetime: wordIn(lifetime),
    contentKind: wordIn(contentKind),
    salience: typeof salience === "number" ? salience : undefined,
  };
}

/** The key that an entry is of. @returns `undefined` where there is no such file. @throws StateError `corrupt` */
export async function readKey(path: string, format: EntryFormat): Promise<string | undefined> {
  const read = await readFields(path, format);
  if (read !== undefined && typeof read["key"] !== "string") throw corrupt(path, "it has no key");
  return read?.["key"] as string | undefined;
}

async function readFields(path: string, format: EntryFormat): Promise<EntryFields | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
  try {
    return format.read(text);
  } catch (cause) {
    throw corrupt(path, (cause as Error).message, cause);
  }
}

function wordIn(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

function corrupt(path: string, reason: string, cause?: unknown): StateError {
  return new StateError(
    {
      kind: "corrupt",
      message: `${path} is damaged: ${reason}. It was left as it is. Mend it by hand, restore it from a backup, or remove it.`,
    },
    cause === undefined ? undefined : { cause },
  );
}

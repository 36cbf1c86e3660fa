import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

export interface Finding {
  readonly place: string;
  readonly name: string;
  readonly spelling: string;
}

/** Values by their names, as programs are likely to write them. */
export type Canaries = { readonly [name: string]: string };

/** What of the values stands in a text or in bytes, whole or without its last few characters. */
export function findingsIn(place: string, content: string | Uint8Array, canaries: Canaries): readonly Finding[] {
  const bytes = typeof content === "string" ? Buffer.from(content, "utf8") : content instanceof Buffer ? content : Buffer.from(content);
  return Object.entries(canaries).flatMap(([name, value]) =>
    Object.entries(spellingsOf(value)).flatMap(([spelling, text]) => (bytes.includes(text) ? [{ place, name, spelling }] : [])),
  );
}

/** Every file in a folder, whatever it is: databases, logs, blobs, reports. */
export async function findingsInFolder(folder: string, canaries: Canaries): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    found.push(...findingsIn(`name of ${entry.name}`, entry.name, canaries));
    if (entry.isFile()) found.push(...findingsIn(path, await readFile(path), canaries));
  }
  return found;
}

function spellingsOf(value: string): { readonly [spelling: string]: string } {
  const bytes = Buffer.from(value, "utf8");
  return {
    "as it is": value.slice(0, -4),
    "JSON": JSON.stringify(value).slice(1, -1),
    "URL": encodeURIComponent(value),
    "base64": bytes.toString("base64").slice(0, -4),
    "base64url": bytes.toString("base64url").slice(0, -4),
    "hex": bytes.toString("hex").slice(0, -8),
    "UTF-16": bytes.toString("utf16le"),
  };
}

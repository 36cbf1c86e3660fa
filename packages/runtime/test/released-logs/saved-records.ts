import type { EventLog, LogId, LogRecord } from "@keelson/protocol";

/** One line of a saved log: a record with its place, or a blob that records point to. */
export type SavedLine = (Omit<LogRecord, "seq"> & { readonly log: LogId }) | { readonly blob: string };

/** Everything that a log holds, as lines of JSON. */
export async function saveRecords(log: EventLog): Promise<string> {
  const lines: SavedLine[] = [];
  for (const { log: id } of await log.list()) {
    for await (const { key, type, at, data } of log.read(id)) {
      const digest = data["~blob"];
      if (typeof digest === "string" && log.blobs) lines.push({ blob: new TextDecoder().decode(await log.blobs.get(digest as never)) });
      lines.push({ log: id, at, key, type, data });
    }
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Appends what was saved to a log whose clock can be set. */
export async function restoreRecords(text: string, log: EventLog, setClock: (at: number) => void): Promise<void> {
  for (const line of text.trimEnd().split("\n")) {
    const saved = JSON.parse(line) as SavedLine;
    if ("blob" in saved) {
      await log.blobs?.put(new TextEncoder().encode(saved.blob));
      continue;
    }
    const { log: id, at, ...record } = saved;
    setClock(at);
    await log.append(id, "any", [record]);
  }
}

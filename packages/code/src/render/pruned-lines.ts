import type { Retention } from "keelson/session";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

/** What went, or would go, why, and what stayed all the same. */
export function prunedLines({ deleted, spared, blobs, sealed }: Retention, dryRun: boolean, now: number, style: Style): string[] {
  const days = (since: number): string => `${Math.max(0, Math.floor((now - since) / 86_400_000))} days`;
  const lines = deleted.map(({ session, reason, idleSince }) => {
    const why = reason === "age" ? "" : ", does not fit";
    return `${dryRun ? "would delete" : "deleted"} ${session}: idle for ${days(idleSince)}${why}`;
  });
  for (const { session, message } of spared) lines.push(`${style.dim("stays")} ${session}: ${printableLine(message)}`);
  if (blobs.left !== undefined) lines.push(printableLine(blobs.left));
  const count = `${deleted.length} ${deleted.length === 1 ? "session" : "sessions"}`;
  lines.push(dryRun ? `${count} would be deleted; nothing was changed` : `${count} deleted, ${spared.length} stayed`);
  if (sealed !== undefined && !dryRun) {
    const { sessions, records, bytesBefore, bytesAfter } = sealed;
    const which = `${sessions} ${sessions === 1 ? "session" : "sessions"}`;
    lines.push(
      records === 0
        ? "nothing to compress"
        : `${which} compressed: ${records} records, ${kibibytes(bytesBefore)} to ${kibibytes(bytesAfter)}`,
    );
  }
  return lines;
}

function kibibytes(bytes: number): string {
  return `${Math.ceil(bytes / 1024)} KiB`;
}

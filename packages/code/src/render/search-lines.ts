import type { SessionSearch } from "keelson/session";
import { truncated } from "../text/display-width.ts";
import { formatDuration } from "./figures.ts";
import { printableLine } from "../text/printable.ts";
import type { Style } from "../text/style.ts";

/** For each hit where it stands and what stands around the words; how to go on from one, and what was not searched. */
export function searchLines(
  { hits, incomplete }: SessionSearch,
  { style, columns, now }: { readonly style: Style; readonly columns: number; readonly now: number },
): string[] {
  const lines = hits.flatMap(({ session, seq, at, type, snippet }) => [
    `${style.bold(session)}  record ${seq}${style.dim(` · ${printableLine(type)} · ${formatDuration(Math.max(0, now - at))} ago`)}`,
    truncated(`  ${printableLine(snippet)}`, columns),
  ]);
  if (hits.length === 0) lines.push("Nothing was found that has all of these words.");
  else lines.push(style.dim("keelson sessions show <session> prints a session, fork <session> --at <record> goes on from one of these."));
  if (incomplete !== undefined) lines.push(printableLine(incomplete));
  return lines;
}

import { textMessage } from "@keelson/protocol";
import { cutResults } from "../room/cut-results.ts";
import type { Entry } from "../room/entry.ts";
import { messageUnits } from "./message-units.ts";

const NOTE = "All of the conversation that need not stay was left out here, since it did not fit. The session's log keeps it.";

/**
 * The last resort: nothing is left but what is pinned, the open calls, of whose results each is cut to its share of `tokens`, and the last
 * request of the user.
 * @returns nothing where nothing else is left, and no result can be cut further
 */
export function leaveBare(entries: readonly Entry[], tokens: number, request?: number): readonly Entry[] | undefined {
  const units = messageUnits(entries, request);
  const goes = units.filter(({ stays }) => stays === undefined || stays === "unread");
  const last = goes.at(-1);
  const isNew = goes.some(({ start, end }) =>
    entries.slice(start, end).some(({ message }) => message.summary !== true || !isNote(message)),
  );
  if (last === undefined || !isNew) return cutResults(entries, tokens);
  const left: Entry[] = [];
  for (const unit of units) {
    if (!goes.includes(unit)) left.push(...entries.slice(unit.start, unit.end));
    if (unit === last) left.push({ message: { ...textMessage("user", NOTE), summary: true }, policy: "pinned" });
  }
  return cutResults(left, tokens) ?? left;
}

function isNote({ content }: Entry["message"]): boolean {
  return content.length === 1 && content[0]?.type === "text" && content[0].text === NOTE;
}

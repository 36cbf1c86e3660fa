import { textMessage } from "@keelson/protocol";
import type { Entry } from "./entry.ts";
import { tailStart } from "./tail-start.ts";

/** A conversation in two parts: what a summary can stand for, and what stays. */
export interface Foldable {
  readonly old: readonly Entry[];
  readonly pinned: readonly Entry[];
  readonly tail: readonly Entry[];
}

/**
 * Parts what is old from what the model responds to next. What is pinned stays as it is, but for calls and their results, of which
 * neither can stand without the other.
 * @returns nothing where all of it is new
 */
export function splitForSummary(entries: readonly Entry[], tokens: number): Foldable | undefined {
  const start = tailStart(entries, tokens);
  const before = entries.slice(0, start);
  const stays = ({ message: { role }, policy }: Entry): boolean => policy === "pinned" && (role === "user" || role === "system");
  const old = before.filter((entry) => !stays(entry));
  return old.length === 0 ? undefined : { old, pinned: before.filter(stays), tail: entries.slice(start) };
}

/** The conversation with this summary in the place of what is old. */
export function foldIntoSummary({ pinned, tail }: Foldable, summary: string): readonly Entry[] {
  const text = `The conversation became too long, and its older part was left out. This is what it came to:\n\n${summary}`;
  return [...pinned, { message: textMessage("user", text), policy: "normal" }, ...tail];
}

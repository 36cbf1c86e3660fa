import { isNowhere, placesOf } from "./paths.ts";
import type { Reading, Scope } from "./reading.ts";
import type { ShellWord } from "./shell-word.ts";
import { literalPattern } from "./star-patterns.ts";

/** What one redirection does. `text`: a here-document or here-string feeds the command. */
export type Redirection =
  | { readonly kind: "read" | "write" | "read-write"; readonly target: ShellWord; readonly appends?: boolean }
  | { readonly kind: "text" }
  | { readonly kind: "none" }
  | { readonly kind: "unclear" };

/** Characters that stand for themselves in whatever bash expands. */
const PLAIN_PATH = /^[\w./+,:@%-]+$/;
const NETWORK = /^\/dev\/(?:tcp|udp)\/([^/]+)/;

export function readRedirection(operator: string, target: ShellWord | undefined): Redirection {
  if (operator === ">&-" || operator === "<&-") return { kind: "none" };
  if (target === undefined) return { kind: "unclear" };
  // Another of the open files, by its number.
  if ((operator === ">&" || operator === "<&") && target.literal && /^\d+-?$|^-$/.test(target.text)) return { kind: "none" };
  // Bash expands the word behind `>&` twice, so that quotes in it quote nothing the second time.
  if (operator.endsWith("&") && !PLAIN_PATH.test(target.text)) return { kind: "unclear" };
  if (operator === "<") return { kind: "read", target };
  if (operator === "<>") return { kind: "read-write", target };
  return { kind: "write", target, ...(operator.endsWith(">>") && { appends: true }) };
}

/** Notes what it reads or writes. Gives the reason why no pattern covers a command that is redirected so. */
export function applyRedirection(redirection: Redirection, scope: Scope, reading: Reading): string | undefined {
  if (redirection.kind === "none" || redirection.kind === "text") return undefined;
  if (redirection.kind === "unclear") {
    reading.unknown.add("Where it is redirected to can't be read.");
    return undefined;
  }
  const { target, kind, appends } = redirection;
  if (target.literal && isNowhere(target.text)) return undefined;
  const host = target.literal ? NETWORK.exec(target.text)?.[1] : undefined;
  if (host !== undefined) {
    reading.hosts.add(host);
    return `It is connected to ${host}.`;
  }
  const places = target.globs ? undefined : placesOf(target, scope, reading);
  if (places === undefined) {
    // What `<(…)` and `>(…)` run is a command of its own.
    if (target.substitutes && /^[<>]\(/.test(target.text)) return `It is connected to ${target.text}.`;
    reading.mayTouch.add("*");
    reading.unknown.add(`Which file ${target.text} is can't be read.`);
    return `It is redirected to ${target.text}.`;
  }
  for (const { path } of places) {
    if (kind !== "write") reading.reads.add(path);
    if (kind !== "read") reading.writes.add(path);
    if (kind !== "read" && appends !== true) reading.destroys?.set(literalPattern(path), false);
  }
  if (kind === "write") return `Its output goes into ${target.text}.`;
  if (kind === "read-write") return `It opens ${target.text} for reading and writing.`;
  return places.every(({ inside }) => inside) ? undefined : `It reads ${target.text}, which is outside of the workspace.`;
}

import type { ParsedPatch } from "./file-patch.ts";
import { parseSectionPatch } from "./parse-section-patch.ts";
import { parseUnifiedDiff } from "./parse-unified-diff.ts";

/** Reads a patch: one that begins with `*** Begin Patch`, or a unified diff. */
export function parsePatch(given: string): ParsedPatch {
  const text = unwrapped(given.replace(/\r\n/g, "\n"));
  if (text.trim() === "") return { problem: "the patch is empty" };
  if (/^\*\*\* (?:Begin Patch|(?:Add|Update|Delete) File:)/m.test(text)) return parseSectionPatch(text.split("\n"));
  if (/^(?:diff --git |--- |@@ )/m.test(text)) return parseUnifiedDiff(text.split("\n"));
  return { problem: 'the text is no patch: it has neither "*** Begin Patch" nor the "---" and "+++" lines of a unified diff' };
}

/** Takes off what models put around a patch: a fence, or the shell command that would apply it. */
function unwrapped(given: string): string {
  let text = given;
  const fence = /^\s*(```|~~~)[^\n]*\n/.exec(text);
  const body = text.trimEnd();
  if (fence !== null && body.endsWith(`\n${fence[1]}`)) text = body.slice(fence[0].length, -(fence[1] as string).length - 1);
  const heredoc = /^\s*(?:apply_patch\s*|patch\b[^\n]*)?<<-?\s*(['"]?)(\w+)\1[^\n]*\n([^]*?)\n\2\s*$/.exec(text);
  return heredoc === null ? text : (heredoc[3] as string);
}

import { calculatesWithArguments } from "./arithmetic.ts";
import type { CommandEffect } from "@keelson/protocol";
import { type Reading, type Scope, shorten } from "./reading.ts";

const CALCULATES = /\s-(?:eq|ne|lt|le|gt|ge|v|R)\s/;

/** `[ … ]` and `[[ … ]]`. The second calculates with what it compares as numbers, and `-v` with the name it is given. */
export function readTest(text: string, scope: Scope, reading: Reading): void {
  const caution = testCaution(text, reading);
  if (caution !== undefined) reading.unknown.add(caution);
  const why = scope.caution;
  const command: CommandEffect = { text, ...(why === undefined ? { readOnly: true } : { caution: why }) };
  reading.commands.push(command);
}

export function testCaution(written: string, reading: Reading): string | undefined {
  const text = written.replaceAll("\\\n", "");
  const isDoubtful =
    CALCULATES.test(` ${text} `) && (/['"\\]?\w*\[(?![[\s])[^\]]*[$`]/.test(text) || calculatesWithArguments(text, reading));
  return isDoubtful ? `What \`${shorten(text)}\` runs where it calculates can't be read.` : undefined;
}

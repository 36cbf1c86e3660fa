import { type Findings, SyntaxFailure } from "./source-cursor.ts";
import { StatementParser } from "./statement-parser.ts";
import type { SimpleCommand, Statement } from "./syntax-tree.ts";

/** The outcome of parsing a text. */
export interface ParsedText {
  /** If something was not understood: the simple commands that were found all the same, without their constructs. */
  readonly statements: readonly Statement[];
  /** Parts of which it is not clear what bash makes of them. */
  readonly doubts: readonly string[];
  /** The text from the first place on that is not understood. */
  readonly notUnderstood: string | undefined;
}

/** Limits how often the parser looks for further commands behind a place that it did not understand. */
const MAX_RECOVERIES = 10;
/** Another command may begin behind one of these. */
const SEPARATOR = /[;&|()\n`{}]|\b(?:then|do|else|elif|while|until|if)\b/g;

/**
 * Reads a text as bash 5 does. It knows a closed part of the language, in which its reading and that of bash agree, and says of
 * everything else that it did not understand it. Its time is proportional to the length of the text.
 */
export function parseBash(text: string): ParsedText {
  const doubts: string[] = [];
  let notUnderstood: string | undefined;
  const found: SimpleCommand[] = [];
  for (let at = 0, attempts = 0; attempts <= MAX_RECOVERIES; attempts++) {
    const findings: Findings = { doubts, simpleCommands: [] };
    try {
      const statements = new StatementParser(text, at, findings, 0).program();
      if (attempts === 0) return { statements, doubts, notUnderstood };
      found.push(...findings.simpleCommands);
      break;
    } catch (error) {
      if (!(error instanceof SyntaxFailure)) throw error;
      found.push(...findings.simpleCommands);
      notUnderstood ??= text.slice(error.at);
      SEPARATOR.lastIndex = Math.max(error.at, at);
      if (SEPARATOR.exec(text) === null) break;
      at = SEPARATOR.lastIndex;
    }
  }
  return { statements: found.map((command) => ({ command, isBackground: false })), doubts, notUnderstood };
}

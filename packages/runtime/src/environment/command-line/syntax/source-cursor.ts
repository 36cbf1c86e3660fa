import type { SimpleCommand } from "./syntax-tree.ts";

/** The parser does not understand the text from `at` on. */
export class SyntaxFailure extends Error {
  override readonly name = "SyntaxFailure";
  readonly at: number;
  constructor(at: number) {
    super(`not understood at ${at}`);
    this.at = at;
  }
}

/** Collects what the parsers of one text, and of the texts within it, find beside the tree. */
export interface Findings {
  /** Parts whose extent is clear, but not what bash makes of them. */
  readonly doubts: string[];
  /** Every simple command that was read, also in constructs whose end was not found. */
  readonly simpleCommands: SimpleCommand[];
}

/** Limits the recursion of the parser and of its readers, so that nesting can't exhaust the stack. */
const MAX_NESTING = 50;
const OPERATOR_CONTINUES = /(?:\\\n)+[&|;<>()-]/y;

/** A position in the source text of a parser. */
export abstract class SourceCursor {
  protected readonly source: string;
  protected readonly findings: Findings;
  protected at: number;
  protected depth: number;

  constructor(source: string, at: number, findings: Findings, depth: number) {
    this.source = source;
    this.at = at;
    this.findings = findings;
    this.depth = depth;
  }

  protected fail(at: number = this.at): never {
    throw new SyntaxFailure(at);
  }

  protected startsWith(text: string): boolean {
    return this.source.startsWith(text, this.at);
  }

  /** The match of a sticky pattern at the current position. The position is not changed. */
  protected match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    return pattern.exec(this.source);
  }

  protected get isAtEnd(): boolean {
    return this.at >= this.source.length;
  }

  /** Passes an operator. Bash joins it with what follows a continuation, so such operators are not understood. */
  protected operator(text: string): void {
    if (!this.startsWith(text)) this.fail();
    this.at += text.length;
    if (this.startsWith("\\\n") && this.match(OPERATOR_CONTINUES) !== null) this.fail();
  }

  protected nest<T>(read: () => T): T {
    if (this.depth >= MAX_NESTING) this.fail();
    this.depth++;
    try {
      return read();
    } finally {
      this.depth--;
    }
  }
}

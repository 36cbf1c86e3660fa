import { type HereDocumentStart, readDelimiter, readDocument } from "./here-documents.ts";
import type { AssignmentNode, Expansion, RedirectionNode, SimpleCommand, Word } from "./syntax-tree.ts";
import { WordScanner } from "./word-scanner.ts";

const REDIRECTION = /(?:(?:\d+|\{[A-Za-z_]\w*\})?(<<<|<<-|<<|<&|<>|>>|>&|>\||<(?!\()|>(?!\())|(&>>|&>))/y;
const ASSIGNMENT = /([A-Za-z_]\w*)(?:\[((?:[^\]['"`\\$<>|&;(){}\s]|\$\w+)*)\])?\+?=/y;
const SUBSCRIPT = /[A-Za-z_]\w*\[/y;
const DECLARATIONS: ReadonlySet<string> = new Set(["declare", "typeset", "export", "readonly", "local"]);
const BLANKS = /(?:[ \t]|\\\n)+/y;

/** A here-document whose text follows on the next lines. */
interface PendingDocument {
  readonly start: HereDocumentStart;
  readonly redirection: { document?: string; readonly expansions: Expansion[] };
}

/** The parts of a simple command that were read so far. */
interface OpenCommand {
  readonly assignments: AssignmentNode[];
  readonly words: Word[];
  readonly redirections: RedirectionNode[];
  declaration?: string;
}

/** Reads simple commands with their assignments and redirections. */
export abstract class CommandParser extends WordScanner {
  #pending: PendingDocument[] = [];

  /** Reads the expansions of a text of its own. */
  protected abstract expansionsIn(text: string): readonly Expansion[];

  /** Passes blanks and continued lines. */
  protected blanks(): void {
    const found = this.match(BLANKS)?.[0];
    if (found === undefined) return;
    if (this.#pending.length > 0 && found.includes("\n")) this.fail();
    this.at += found.length;
  }

  /** Passes blanks, comments and newlines, with the here-documents that begin after a newline. */
  protected newlines(): void {
    for (;;) {
      this.blanks();
      if (this.startsWith("#")) {
        const end = this.source.indexOf("\n", this.at);
        this.at = end < 0 ? this.source.length : end;
      }
      if (!this.startsWith("\n")) return;
      this.at++;
      this.#readDocuments();
    }
  }

  /** Reads what may not stand between a here-document and its text: a part of the command with newlines in it. */
  protected withinLine<T>(read: () => T): T {
    if (this.#pending.length === 0) return read();
    const start = this.at;
    const result = read();
    if (this.source.slice(start, this.at).includes("\n")) this.fail(start);
    return result;
  }

  /** Reads statements whose here-documents end before they do. */
  protected withOwnDocuments<T>(read: () => T): T {
    const outer = this.#pending;
    this.#pending = [];
    const result = read();
    if (this.#pending.length > 0) this.fail();
    this.#pending = outer;
    return result;
  }

  protected assertNoOpenDocument(): void {
    if (this.#pending.length > 0) this.fail();
  }

  #readDocuments(): void {
    for (const { start, redirection } of this.#pending) {
      const document = readDocument(this.source, this.at, start) ?? this.fail();
      this.at = document.end;
      if (!start.isQuoted) redirection.expansions.push(...this.expansionsIn(document.text));
      if (start.isQuoted || !/[$`\\]/.test(document.text))
        redirection.document = start.stripsTabs ? document.text.replace(/^\t+/gm, "") : document.text;
      if (this.startsWith("\n")) this.at++;
    }
    this.#pending = [];
  }

  /** Reads the redirections after a command with a body. */
  protected redirections(): readonly RedirectionNode[] {
    const found: RedirectionNode[] = [];
    for (;;) {
      this.blanks();
      const redirection = this.#redirection();
      if (redirection === undefined) return found;
      found.push(redirection);
    }
  }

  #redirection(): RedirectionNode | undefined {
    const found = this.match(REDIRECTION);
    if (found === null) return undefined;
    const [whole, plain, both] = found;
    const operator = plain ?? both ?? "";
    this.at += whole.length - operator.length;
    this.operator(operator);
    this.blanks();
    if (operator === "<<" || operator === "<<-") return this.#hereDocument(operator);
    return { operator, target: this.requiredWord(), expansions: [] };
  }

  #hereDocument(operator: "<<" | "<<-"): RedirectionNode {
    const start = readDelimiter(this.source, this.at, operator === "<<-") ?? this.fail();
    this.at += start.written.length;
    const redirection: { document?: string; readonly expansions: Expansion[] } = { expansions: [] };
    this.#pending.push({ start, redirection });
    return Object.assign(redirection, { operator });
  }

  protected requiredWord(): Word {
    if (this.startsWith("#")) this.fail();
    const word = this.withinLine(() => this.word());
    if (word.text === "") this.fail();
    return word;
  }

  protected simpleCommand(): SimpleCommand {
    const start = this.at;
    let end = start;
    const command: OpenCommand = { assignments: [], words: [], redirections: [] };
    const finish = (): SimpleCommand => {
      const simple: SimpleCommand = { kind: "simple", text: this.source.slice(start, end), ...command };
      this.findings.simpleCommands.push(simple);
      return simple;
    };
    try {
      while (this.#part(command)) {
        end = this.at;
        this.blanks();
      }
    } catch (error) {
      // A rule may still deny what was read of it.
      if (end > start) finish();
      throw error;
    }
    if (end === start) this.fail();
    return finish();
  }

  /** Reads the next part of a command. False at its end. */
  #part(command: OpenCommand): boolean {
    const { words, assignments, redirections } = command;
    const redirection = this.#redirection();
    if (redirection !== undefined) {
      redirections.push(redirection);
      return true;
    }
    const next = this.source[this.at];
    if (next === undefined || "\n;&|)#".includes(next)) return false;
    if (words.length === 0 || command.declaration !== undefined) {
      const assignment = this.#assignment();
      if (assignment !== undefined) {
        assignments.push(assignment);
        return true;
      }
    }
    const word = this.requiredWord();
    if (words.length === 0 && command.declaration === undefined && assignments.length === 0 && DECLARATIONS.has(word.text))
      command.declaration = word.text;
    else words.push(word);
    return true;
  }

  #assignment(): AssignmentNode | undefined {
    const start = this.at;
    const found = this.match(ASSIGNMENT);
    if (found === null) {
      // A subscript may hold blanks and quotes, so where the word ends is not clear.
      if (this.match(SUBSCRIPT) !== null) this.fail();
      return undefined;
    }
    const [whole, name = "", subscript] = found;
    this.at += whole.length;
    const value = this.startsWith("(") ? { elements: this.withinLine(() => this.#array()) } : { value: this.withinLine(() => this.word()) };
    return { name, text: this.source.slice(start, this.at), ...(subscript !== undefined && { subscript }), ...value };
  }

  #array(): readonly Word[] {
    const elements: Word[] = [];
    this.at++;
    for (;;) {
      this.newlines();
      if (this.startsWith(")")) break;
      elements.push(this.requiredWord());
    }
    this.at++;
    if (this.match(/[ \t\n;&|)]|\\\n|$/y) === null) this.fail();
    return elements;
  }
}

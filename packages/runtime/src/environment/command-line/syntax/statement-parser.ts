import { SyntaxFailure } from "./source-cursor.ts";
import type { AndOrList, ArithmeticCommand, Command, Expansion, FunctionDefinition, Group, Loop, Statement, Word } from "./syntax-tree.ts";
import { TestParser } from "./test-parser.ts";

const LIST_END = /(?:then|else|elif|fi|do|done|esac|\})(?=[ \t\n;&|()<>]|$)|\)|;;|;&|$/y;
const RESERVED: ReadonlySet<string> = new Set(
  "if then elif else fi for while until do done case esac select function in { } [[ ]] !".split(" "),
);
const COMPOUND = /(?:\(|\[\[(?=[ \t\n])|(?:if|while|until|for|select|case|\{)(?=[ \t\n;&|()<>]))/y;
const NEGATION = /!(?=[ \t])/y;
const FUNCTION = /function[ \t]/y;
const KEYWORD_FUNCTION_NAME = /([\w.:+@%-]+)(?=[ \t\n(])/y;
const FUNCTION_NAME = /([\w.:+@%-]+)[ \t]*\([ \t]*\)/y;
const VARIABLE = /[A-Za-z_]\w*(?=[ \t\n;])/y;
const COPROCESS = /coproc[ \t]+([A-Za-z_]\w*[ \t]+)?(?=\(|\{[ \t\n]|\[\[[ \t\n]|(?:if|while|until|for|select|case)[ \t\n(])/y;
const TIMED = /time(?:[ \t]+-p)?(?:[ \t]+--)?[ \t]+(?=!?[ \t]*(?:\(|\{[ \t\n]|\[\[[ \t\n]|(?:if|while|until|for|select|case)[ \t\n(]))/y;

/** Reads commands with bodies, and the lists that they stand in. */
export class StatementParser extends TestParser {
  program(): readonly Statement[] {
    const statements = this.#list();
    if (!this.isAtEnd) this.fail();
    this.assertNoOpenDocument();
    return statements;
  }

  protected override substitution(): readonly Statement[] {
    return this.nest(() => {
      const statements = this.withOwnDocuments(() => this.#list());
      if (!this.startsWith(")")) this.fail();
      this.at++;
      return statements;
    });
  }

  protected override statementsOf(text: string): readonly Statement[] {
    return this.#within(text, (parser) => parser.program());
  }

  protected override expansionsIn(text: string): readonly Expansion[] {
    return this.#within(text, (parser) => parser.expansionsOfText());
  }

  /** Reads a text of its own. A failure in it is one at this place. */
  #within<T>(text: string, read: (parser: StatementParser) => T): T {
    try {
      return this.nest(() => read(new StatementParser(text, 0, this.findings, this.depth)));
    } catch (error) {
      if (error instanceof SyntaxFailure) this.fail();
      throw error;
    }
  }

  /** Reads statements up to a word or sign that ends a list, which is not passed. */
  #list(): readonly Statement[] {
    const statements: Statement[] = [];
    for (;;) {
      this.newlines();
      if (this.#isListEnd()) return statements;
      const command = this.#andOr();
      this.blanks();
      const isBackground = this.startsWith("&");
      statements.push({ command, isBackground });
      if (isBackground) this.operator("&");
      else if (this.startsWith(";") && !this.startsWith(";;") && !this.startsWith(";&")) this.operator(";");
      else if (!this.startsWith("\n") && !this.startsWith("#") && !this.#isListEnd()) this.fail();
    }
  }

  #isListEnd(): boolean {
    return this.match(LIST_END) !== null;
  }

  /** A list that must not be empty. */
  #body(): readonly Statement[] {
    const statements = this.#list();
    if (statements.length === 0) this.fail();
    return statements;
  }

  #andOr(): Command {
    const first = this.#pipeline();
    const commands: Command[] = [first];
    const operators: AndOrList["operators"][number][] = [];
    for (;;) {
      this.blanks();
      const operator = this.startsWith("&&") ? "&&" : this.startsWith("||") ? "||" : undefined;
      if (operator === undefined) return commands.length === 1 ? first : { kind: "and-or", commands, operators };
      this.operator(operator);
      this.newlines();
      operators.push(operator);
      commands.push(this.#pipeline());
    }
  }

  #pipeline(): Command {
    for (;;) {
      if (this.match(NEGATION) !== null) this.at++;
      else {
        const prefix = this.match(TIMED)?.[0];
        if (prefix === undefined) break;
        this.at += prefix.length;
      }
      this.blanks();
    }
    const first = this.#command();
    const commands: Command[] = [first];
    for (;;) {
      this.blanks();
      if (!this.startsWith("|") || this.startsWith("||")) return commands.length === 1 ? first : { kind: "pipeline", commands };
      this.operator(this.startsWith("|&") ? "|&" : "|");
      this.newlines();
      commands.push(this.#command());
    }
  }

  #command(): Command {
    const coprocess = this.match(COPROCESS);
    if (coprocess !== null) {
      const [text, name] = coprocess;
      // Bash sets the variable of that name, which may be PATH.
      if (name !== undefined) this.findings.doubts.push(text.trimEnd());
      this.at += text.length;
      return this.#compound();
    }
    if (this.match(COMPOUND) !== null) return this.#compound();
    if (this.match(FUNCTION) !== null || this.match(FUNCTION_NAME) !== null) return this.nest(() => this.#function());
    const start = this.at;
    const command = this.simpleCommand();
    const [first] = command.words;
    if (first !== undefined && RESERVED.has(first.text)) this.fail(start);
    return command;
  }

  #function(): FunctionDefinition {
    const hasKeyword = this.match(FUNCTION) !== null;
    if (hasKeyword) {
      this.at += "function".length;
      this.blanks();
    }
    const found = this.match(FUNCTION_NAME) ?? (hasKeyword ? this.match(KEYWORD_FUNCTION_NAME) : null) ?? this.fail();
    const [whole, name = ""] = found;
    if (RESERVED.has(name)) this.fail();
    this.at += whole.length;
    this.newlines();
    if (this.match(COMPOUND) === null) this.fail();
    return { kind: "function", name, body: this.#compound() };
  }

  #compound(): Command {
    return this.nest(() => {
      if (this.startsWith("((")) return this.#arithmeticCommand();
      if (this.startsWith("(")) return this.#group("subshell", "(", ")");
      if (this.startsWith("[[")) return this.test();
      if (this.startsWith("{")) return this.#group("group", "{", "}");
      if (this.startsWith("if")) return this.#if();
      if (this.startsWith("case")) return this.#case();
      if (this.startsWith("for") || this.startsWith("select")) return this.#loop();
      return this.#while();
    });
  }

  /** Passes a reserved word or a sign. */
  #expect(text: string): void {
    if (!this.startsWith(text)) this.fail();
    const end = this.at + text.length;
    const next = this.source[end];
    if (text !== "(" && text !== ")" && next !== undefined && !" \t\n;&|()<>".includes(next)) this.fail();
    this.at = end;
  }

  #isReserved(text: string): boolean {
    const next = this.source[this.at + text.length];
    return this.startsWith(text) && (next === undefined || " \t\n;&|()<>".includes(next));
  }

  #group(kind: Group["kind"], open: string, close: string): Group {
    this.#expect(open);
    const body = this.#body();
    this.#expect(close);
    return { kind, words: [], body, redirections: this.redirections() };
  }

  #if(): Group {
    const body: Statement[] = [];
    this.#expect("if");
    body.push(...this.#body());
    this.#expect("then");
    body.push(...this.#body());
    while (this.#isReserved("elif")) {
      this.#expect("elif");
      body.push(...this.#body());
      this.#expect("then");
      body.push(...this.#body());
    }
    if (this.#isReserved("else")) {
      this.#expect("else");
      body.push(...this.#body());
    }
    this.#expect("fi");
    return { kind: "conditional", words: [], body, redirections: this.redirections() };
  }

  #while(): Group {
    this.#expect(this.#isReserved("while") ? "while" : "until");
    const condition = this.#body();
    const body = this.#doGroup();
    return { kind: "conditional", words: [], body: [...condition, ...body], redirections: this.redirections() };
  }

  #doGroup(): readonly Statement[] {
    const [open, close] = this.#isReserved("{") ? ["{", "}"] : ["do", "done"];
    this.#expect(open);
    const body = this.#body();
    this.#expect(close);
    return body;
  }

  #loop(): Loop | ArithmeticCommand {
    const start = this.at;
    const isFor = this.#isReserved("for");
    this.#expect(isFor ? "for" : "select");
    this.blanks();
    if (isFor && this.startsWith("((")) return this.#arithmeticLoop(start);
    const variable = this.match(VARIABLE)?.[0] ?? this.fail();
    this.at += variable.length;
    this.newlines();
    const values = this.#isReserved("in") ? this.#values() : undefined;
    this.blanks();
    if (this.startsWith(";")) this.operator(";");
    this.newlines();
    const body = this.#doGroup();
    return { kind: "loop", variable, values, body, redirections: this.redirections() };
  }

  #values(): readonly Word[] {
    const values: Word[] = [];
    this.#expect("in");
    for (;;) {
      this.blanks();
      if (this.isAtEnd || ";\n#".includes(this.source[this.at] as string)) return values;
      values.push(this.requiredWord());
    }
  }

  #arithmeticLoop(start: number): ArithmeticCommand {
    const found = this.#calculation();
    const text = this.source.slice(start, this.at);
    this.blanks();
    if (this.startsWith(";")) this.operator(";");
    this.newlines();
    const body = this.#doGroup();
    return { kind: "arithmetic", text, ...found, body, redirections: this.redirections() };
  }

  #arithmeticCommand(): ArithmeticCommand {
    const start = this.at;
    const found = this.#calculation();
    const text = this.source.slice(start, this.at);
    return { kind: "arithmetic", text, ...found, body: undefined, redirections: this.redirections() };
  }

  #calculation(): { readonly expression: string; readonly expansions: readonly Expansion[] } {
    const start = this.at;
    return this.withinLine(() => {
      this.at += 2;
      return this.arithmetic("))") ?? this.fail(start + 1);
    });
  }

  #case(): Group {
    this.#expect("case");
    this.blanks();
    const words: Word[] = [this.requiredWord()];
    const body: Statement[] = [];
    this.newlines();
    this.#expect("in");
    for (;;) {
      this.newlines();
      if (this.#isReserved("esac")) break;
      if (this.startsWith("(")) this.at++;
      for (;;) {
        this.blanks();
        words.push(this.requiredWord());
        this.blanks();
        if (!this.startsWith("|")) break;
        this.operator("|");
      }
      this.operator(")");
      body.push(...this.#list());
      if (!this.startsWith(";")) break;
      this.operator(this.startsWith(";;&") ? ";;&" : this.startsWith(";&") ? ";&" : ";;");
    }
    this.#expect("esac");
    return { kind: "conditional", words, body, redirections: this.redirections() };
  }
}

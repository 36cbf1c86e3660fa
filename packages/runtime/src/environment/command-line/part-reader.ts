import { readArithmetic } from "./arithmetic.ts";
import { readAssignment } from "./assignments.ts";
import { isHereDocumentSure } from "./here-documents.ts";
import type { SyntaxNode } from "./parse-bash.ts";
import { type Reading, type Scope, shorten } from "./reading.ts";
import { type Redirection, applyRedirection, readRedirection } from "./redirections.ts";
import { type ShellWord, expansionsOf, readWord } from "./shell-word.ts";

export const WORDS: ReadonlySet<string> = new Set([
  "word",
  "string",
  "raw_string",
  "ansi_c_string",
  "translated_string",
  "concatenation",
  "number",
  "simple_expansion",
  "expansion",
  "command_substitution",
  "process_substitution",
  "arithmetic_expansion",
  "brace_expression",
  "special_variable_name",
  "variable_name",
]);

const SIMPLE_PARAMETER =
  /^\$\{(?:#?(?:\w+|[@*#?$!-])(?:\[[@*\d]+\])?|(?:\w+|[@*])(?:\[[@*\d]+\])?(?::?[-+?][^'"`$\\{}()]*|%%?[^'"`$\\{}()]*|##?[^'"`$\\{}()]*|:\d+(?::\d+)?|\/\/?[^'"`$\\{}()]*|,,?|\^\^?))\}$/;

/** What the parts of a command mean: its words with what is expanded in them, its assignments, its redirections. */
export abstract class PartReader {
  protected readonly source: string;
  protected readonly reading: Reading;

  constructor(source: string, reading: Reading) {
    this.source = source;
    this.reading = reading;
  }

  /** Reads the commands within a part. */
  abstract statements(nodes: readonly SyntaxNode[], scope: Scope): void;

  /** What bash runs to make words: `$(…)`, backticks, `<(…)`, and what stands in `${…}`. */
  expansions(node: SyntaxNode, scope: Scope): void {
    for (const expansion of expansionsOf(node)) this.#expansion(expansion, scope);
  }

  words(nodes: readonly SyntaxNode[], scope: Scope): readonly ShellWord[] {
    return nodes.flatMap((node, index) => {
      // Bash knows no two words without anything between them; the grammar parts one at a backtick.
      if (nodes[index - 1]?.end === node.start) this.doubt(node);
      const found = expansionsOf(node);
      for (const expansion of found) this.#expansion(expansion, scope);
      const words = readWord(this.source, node, found);
      if (words === undefined) {
        this.doubt(node);
        return [];
      }
      return words;
    });
  }

  protected text(node: SyntaxNode): string {
    return this.source.slice(node.start, node.end);
  }

  protected doubt(node: SyntaxNode): void {
    this.reading.unknown.add(`It can't be told how bash reads \`${shorten(this.text(node))}\`.`);
  }

  protected assignment(node: SyntaxNode, scope: Scope): ReturnType<typeof readAssignment> {
    const [target, , ...values] = node.children;
    if (target === undefined) this.doubt(node);
    for (const child of node.children) this.#nested(child, scope);
    const value = values.find(({ named }) => named);
    const isArray = value?.type === "array";
    const words = value === undefined || isArray ? [] : readWord(this.source, value, expansionsOf(value));
    if (words === undefined || (value !== undefined && value.end !== node.end)) this.doubt(node);
    const elements = isArray
      ? this.words(
          value.children.filter(({ named }) => named),
          scope,
        )
      : (words ?? []);
    return readAssignment(
      { target: target === undefined ? "" : this.text(target), text: this.text(node), values: elements, isArray },
      this.reading,
    );
  }

  /** What runs anywhere below: in a subscript, in an array, in a value. */
  #nested(node: SyntaxNode, scope: Scope): void {
    if (node.type === "subscript") {
      const text = this.text(node);
      this.arithmetic(text.slice(text.indexOf("[") + 1, text.lastIndexOf("]")));
    }
    if (node.type !== "array") this.expansions(node, scope);
  }

  protected redirection(node: SyntaxNode, scope: Scope): readonly Redirection[] {
    if (node.type === "heredoc_redirect") {
      if (!isHereDocumentSure(this.source, node)) this.doubt(node);
      for (const child of node.children) if (child.type === "heredoc_body") this.expansions(child, scope);
      return [{ kind: "text" }];
    }
    const target = targetsOf(node)[0];
    const words = target === undefined ? [] : this.words([target], scope);
    if (node.type === "herestring_redirect") return [{ kind: "text" }];
    const operator = node.children.find(({ named }) => !named);
    if (operator === undefined || words.length > 1) {
      this.doubt(node);
      return [];
    }
    return [readRedirection(this.text(operator), words[0])];
  }

  /** The scope of what stands in something that is redirected. */
  protected under(redirections: readonly SyntaxNode[], scope: Scope): Scope {
    if (redirections.length === 0) return scope;
    const read = redirections.flatMap((redirection) => this.redirection(redirection, scope));
    const cautions = read.map((redirection) => applyRedirection(redirection, scope, this.reading));
    const caution = cautions.find((found) => found !== undefined) ?? scope.caution;
    const fed = scope.fed === true || read.some(({ kind }) => kind === "read" || kind === "text");
    return { ...scope, ...(caution !== undefined && { caution }), ...(fed && { fed }) };
  }

  protected arithmetic(text: string): void {
    readArithmetic(text, this.reading);
  }

  #expansion(node: SyntaxNode, scope: Scope): void {
    const text = this.text(node);
    switch (node.type) {
      case "command_substitution":
      case "process_substitution": {
        // Within backticks bash takes backslashes away before it reads what is left, and a comment ends at the closing mark.
        if (text.startsWith("`") && /[\\#]|<</.test(text.slice(1, -1))) this.doubt(node);
        this.checkGaps(node);
        this.statements(
          node.children.filter(({ named }) => named),
          { ...scope },
        );
        // `$(<file)` has no command.
        return;
      }
      case "arithmetic_expansion":
        return this.arithmetic(text.startsWith("$((") ? text.slice(3, -2) : text.slice(2, -1));
      case "simple_expansion":
        return;
      default:
        if (!SIMPLE_PARAMETER.test(text)) this.reading.unknown.add(`What \`${shorten(text)}\` becomes can't be read.`);
        for (const child of node.children) for (const nested of expansionsOf(child)) this.#expansion(nested, scope);
    }
  }

  /** Between the parts of a statement there may be nothing that the grammar passed over and bash doesn't. */
  protected checkGaps(node: SyntaxNode, hasDocuments = false): void {
    if (hasDocuments && node.children.some(({ type }) => type === "heredoc_redirect")) return;
    let end: number | undefined;
    for (const child of node.children) {
      if (end !== undefined && child.start > end && !/^(?:\s|\\\n)*$/.test(this.source.slice(end, child.start))) {
        this.doubt(node);
        return;
      }
      end = child.end;
    }
  }
}

export function isRedirection({ type }: SyntaxNode): boolean {
  return type === "file_redirect" || type === "heredoc_redirect" || type === "herestring_redirect";
}

/** To the grammar, words after a redirection are more of its targets; to bash, they are arguments. */
export function targetsOf(node: SyntaxNode): readonly SyntaxNode[] {
  return node.type === "heredoc_redirect" ? [] : node.children.filter(({ type }) => WORDS.has(type));
}

import { isSteering } from "./assignments.ts";
import type { SyntaxNode } from "./parse-bash.ts";
import { PartReader, WORDS, isRedirection, targetsOf } from "./part-reader.ts";
import { type CommandParts, readSimpleCommand } from "./read-simple-command.ts";
import { type Scope, shorten } from "./reading.ts";
import { readTest } from "./test-commands.ts";

const MAX_DEPTH = 60;
// In patterns of `case` and the like these mean more than in a word; nothing in them runs.
const PATTERN_NODES: ReadonlySet<string> = new Set(["extglob_pattern", "regex"]);
/** Parts that the grammar hangs above the command they belong to: `a && b > f` is to it a redirection of the list. */
interface Tail {
  readonly redirections: readonly SyntaxNode[];
  readonly words: readonly SyntaxNode[];
}
const NO_TAIL: Tail = { redirections: [], words: [] };

/** Walks through what one text consists of and notes what each command in it does. */
export class StatementReader extends PartReader {
  statements(nodes: readonly SyntaxNode[], scope: Scope): void {
    for (const node of nodes) this.#statement(node, scope, NO_TAIL);
  }

  #statement(node: SyntaxNode, scope: Scope, tail: Tail): void {
    if (this.reading.depth >= MAX_DEPTH) {
      this.reading.unknown.add("It is nested too deeply to be read.");
      return;
    }
    this.reading.depth++;
    try {
      this.#read(node, scope, tail);
    } finally {
      this.reading.depth--;
    }
  }

  #read(node: SyntaxNode, scope: Scope, tail: Tail): void {
    switch (node.type) {
      case "program":
      case "compound_statement":
      case "do_group":
      case "else_clause":
      case "elif_clause":
      case "if_statement":
      case "while_statement":
      case "case_item":
        return this.#compound(node, scope, tail);
      case "subshell":
        return this.#compound(node, { ...scope }, tail);
      case "list":
      case "pipeline":
      case "negated_command":
        return this.#list(node, scope, tail);
      case "redirected_statement":
        return this.#redirected(node, scope, tail);
      case "for_statement":
      case "c_style_for_statement":
      case "case_statement":
        return this.#compound(node, scope, tail);
      case "function_definition":
        return this.#function(node, scope, tail);
      case "command":
        return this.#command(node, scope, tail);
      case "declaration_command":
      case "unset_command":
        return this.#declaration(node, scope, tail);
      case "variable_assignment":
      case "variable_assignments":
        return this.#bareAssignments(node, scope, tail);
      case "test_command":
        return this.#test(node, scope, tail);
      case "comment":
        if (node.start > 0 && !/[\s;&|()]/.test(this.source[node.start - 1] as string)) this.doubt(node);
        return;
      case "ERROR":
      case "MISSING":
        this.reading.unknown.add(`\`${shorten(this.text(node))}\` is not understood as bash.`);
        for (const child of node.children) this.#statement(child, scope, NO_TAIL);
        return;
      default:
        if (!node.named) return;
        if (WORDS.has(node.type)) return this.expansions(node, scope);
        if (PATTERN_NODES.has(node.type)) return this.expansions(node, scope);
        this.doubt(node);
        for (const child of node.children) this.#statement(child, scope, NO_TAIL);
    }
  }

  /** Statements between words of the language. What is not a statement in it is a word, which may run something. */
  #compound(node: SyntaxNode, outer: Scope, tail: Tail): void {
    const scope = this.under(tail.redirections, outer);
    for (const word of tail.words) this.doubt(word);
    if (node.type === "for_statement") {
      const [name, ...values] = node.children.filter(({ type }) => WORDS.has(type));
      const words = this.words(values, scope);
      // Without `in`, it goes over the arguments.
      if (name !== undefined && isSteering(this.text(name)))
        this.reading.unknown.add(`${this.text(name)} is set, which changes what runs.`);
      if (name !== undefined && (words.length === 0 || !words.every(({ text, literal }) => literal && /^\d+$/.test(text))))
        this.reading.texts.add(this.text(name));
    }
    if (node.type === "c_style_for_statement") {
      const open = node.children.find(({ type }) => type === "((");
      const close = node.children.find(({ type }) => type === "))");
      if (open === undefined || close === undefined) this.doubt(node);
      else this.arithmetic(this.source.slice(open.end, close.start));
    }
    this.checkGaps(node);
    for (const [index, child] of node.children.entries()) {
      const isWord = WORDS.has(child.type) || PATTERN_NODES.has(child.type);
      if (node.type === "for_statement" && isWord) continue;
      if (node.type === "c_style_for_statement" && child.type !== "do_group" && child.type !== "compound_statement") continue;
      // A branch may run or not, so where it left the folder, either is possible.
      const before = scope.folders;
      const isBackground = node.children[index + 1]?.type === "&";
      const apart = isBackground ? { ...scope } : scope;
      this.#statement(child, apart, NO_TAIL);
      if (node.type !== "program" && node.type !== "compound_statement" && node.type !== "subshell")
        scope.folders = either(before, scope.folders);
    }
    if (node.type !== "subshell") outer.folders = scope.folders;
  }

  #list(node: SyntaxNode, scope: Scope, tail: Tail): void {
    this.checkGaps(node);
    const parts = node.children.filter(({ named, type }) => named && type !== "comment");
    const last = parts.at(-1);
    const isPipeline = node.type === "pipeline";
    const or = node.children.some(({ type }) => type === "||");
    parts.forEach((part, index) => {
      const within: Scope = isPipeline ? { ...scope, ...(index > 0 && { fed: true }) } : scope;
      const before = within.folders;
      this.#statement(part, within, part === last ? tail : NO_TAIL);
      if (or && !isPipeline) scope.folders = either(before, within.folders);
    });
  }

  #redirected(node: SyntaxNode, scope: Scope, tail: Tail): void {
    this.checkGaps(node, true);
    const [body, ...rest] = node.children.filter(({ named }) => named);
    if (body === undefined) return this.doubt(node);
    const isBare = isRedirection(body);
    const own = this.#tailOf(isBare ? [body, ...rest] : rest, scope);
    const joined: Tail = { redirections: [...own.redirections, ...tail.redirections], words: [...own.words, ...tail.words] };
    if (isBare) this.#simple({ assignments: [], words: joined.words, redirections: joined.redirections, node }, scope);
    else this.#statement(body, scope, joined);
  }

  /** Of the parts of a redirection: what redirects, and which of its words are arguments of the command. */
  #tailOf(nodes: readonly SyntaxNode[], scope: Scope): Tail {
    const redirections: SyntaxNode[] = [];
    const words: SyntaxNode[] = [];
    for (const node of nodes) {
      if (!isRedirection(node)) {
        this.doubt(node);
        continue;
      }
      redirections.push(node);
      words.push(...targetsOf(node).slice(1));
      if (node.type !== "heredoc_redirect") continue;
      for (const child of node.children) {
        if (isRedirection(child)) {
          const inner = this.#tailOf([child], scope);
          redirections.push(...inner.redirections);
          words.push(...inner.words);
        } else if (WORDS.has(child.type)) words.push(child);
        else if (child.named && !child.type.startsWith("heredoc_") && child.type !== "file_descriptor")
          this.#statement(child, { ...scope, fed: true }, NO_TAIL);
      }
    }
    return { redirections, words };
  }

  #function(node: SyntaxNode, scope: Scope, tail: Tail): void {
    const [name, ...body] = node.children.filter(({ named }) => named);
    if (name === undefined) return this.doubt(node);
    this.reading.functions.add(this.text(name));
    const inner = this.under(tail.redirections, { ...scope, fed: true });
    for (const statement of body) {
      if (isRedirection(statement)) this.under([statement], scope);
      else this.#statement(statement, { ...inner }, NO_TAIL);
    }
  }

  #command(node: SyntaxNode, scope: Scope, tail: Tail): void {
    this.checkGaps(node);
    const assignments: SyntaxNode[] = [];
    const redirections: SyntaxNode[] = [];
    const words: SyntaxNode[] = [];
    for (const child of node.children) {
      if (child.type === "variable_assignment") assignments.push(child);
      else if (isRedirection(child)) redirections.push(child);
      else if (child.type === "command_name") {
        const inner = child.children[0];
        if (inner?.type === "arithmetic_expansion" && child.children.length === 1 && this.text(inner).startsWith("((")) {
          const text = this.text(inner);
          if (assignments.length > 0 || !text.endsWith("))")) this.doubt(node);
          else this.arithmetic(text.slice(2, -2));
          this.under([...redirections, ...tail.redirections], scope);
          this.reading.commands.push({ text, readOnly: true });
          return;
        }
        words.push(child);
      } else if (WORDS.has(child.type)) words.push(child);
      else this.#statement(child, scope, NO_TAIL);
    }
    const all = {
      redirections: [...redirections, ...tail.redirections],
      words: [...words, ...redirections.flatMap((redirection) => targetsOf(redirection).slice(1)), ...tail.words],
    };
    all.words.sort((a, b) => a.start - b.start);
    this.#simple({ assignments, words: all.words, redirections: all.redirections, node }, scope);
  }

  #simple(
    parts: {
      readonly assignments: readonly SyntaxNode[];
      readonly words: readonly SyntaxNode[];
      readonly redirections: readonly SyntaxNode[];
      readonly node: SyntaxNode;
    },
    scope: Scope,
  ): void {
    const command: CommandParts = {
      text: this.text(parts.node),
      assignments: parts.assignments.map((assignment) => this.assignment(assignment, scope)),
      words: this.words(parts.words, scope),
      redirections: parts.redirections.flatMap((redirection) => this.redirection(redirection, scope)),
    };
    readSimpleCommand(command, scope, this.reading);
  }

  #bareAssignments(node: SyntaxNode, scope: Scope, tail: Tail): void {
    const assignments = node.type === "variable_assignment" ? [node] : node.children.filter(({ type }) => type === "variable_assignment");
    this.#simple({ assignments, words: tail.words, redirections: tail.redirections, node }, scope);
  }

  #declaration(node: SyntaxNode, scope: Scope, tail: Tail): void {
    this.checkGaps(node);
    const keyword = node.children[0];
    const text = this.text(node);
    const assignments = node.children.filter(({ type }) => type === "variable_assignment").map((child) => this.assignment(child, scope));
    const words = this.words([...node.children.filter(({ type, named }) => named && WORDS.has(type)), ...tail.words], scope);
    for (const child of node.children)
      if (child.named && child.type !== "variable_assignment" && !WORDS.has(child.type)) this.#statement(child, scope, NO_TAIL);
    readSimpleCommand(
      {
        text,
        assignments,
        words,
        redirections: tail.redirections.flatMap((redirection) => this.redirection(redirection, scope)),
        declaration: keyword === undefined ? "declare" : this.text(keyword),
      },
      scope,
      this.reading,
    );
  }

  #test(node: SyntaxNode, scope: Scope, tail: Tail): void {
    for (const word of tail.words) this.doubt(word);
    const inner = this.under(tail.redirections, scope);
    this.expansions(node, inner);
    readTest(this.text(node), inner, this.reading);
  }
}

function either(a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined {
  if (a === undefined || b === undefined) return undefined;
  const all = [...new Set([...a, ...b])];
  return all.length > 8 ? undefined : all;
}

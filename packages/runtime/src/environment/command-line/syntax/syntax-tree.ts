/** One piece of a word, without its quotes. */
export interface WordPart {
  readonly kind: "plain" | "quoted" | "expansion" | "substitution";
  readonly text: string;
  /** True if an expansion stands within double quotes, so that it stays one word. */
  readonly whole?: boolean;
}

/** A word as it is written, with the parts of it that bash expands. */
export interface Word {
  readonly text: string;
  readonly parts: readonly WordPart[];
  readonly expansions: readonly Expansion[];
}

/** A part of a word that bash runs or calculates. `$name` and other simple parameters run nothing and are not listed. */
export type Expansion =
  | {
      readonly kind: "substitution";
      readonly text: string;
      readonly statements: readonly Statement[];
      /** True if bash may read the text between backticks in another way. */
      readonly isUnsure?: boolean;
    }
  | { readonly kind: "arithmetic"; readonly text: string; readonly expression: string; readonly expansions: readonly Expansion[] }
  | { readonly kind: "parameter"; readonly text: string; readonly expansions: readonly Expansion[] };

/** A redirection. A here-document has no target; `expansions` are those of its text. */
export interface RedirectionNode {
  readonly operator: string;
  readonly target?: Word;
  readonly expansions: readonly Expansion[];
  /** The text of a here-document in which bash expands nothing. */
  readonly document?: string;
}

/** An assignment before a command or after a word such as `export`. */
export interface AssignmentNode {
  readonly name: string;
  readonly text: string;
  /** The text between the brackets of `name[…]=`. */
  readonly subscript?: string;
  readonly value?: Word;
  /** The words of `name=(…)`. */
  readonly elements?: readonly Word[];
}

export interface SimpleCommand {
  readonly kind: "simple";
  readonly text: string;
  readonly assignments: readonly AssignmentNode[];
  readonly words: readonly Word[];
  readonly redirections: readonly RedirectionNode[];
  /** `export` and the like, whose arguments are assignments, too. */
  readonly declaration?: string;
}

/** A command with a body: it runs in a subshell, in this shell, or only under a condition. */
export interface Group {
  readonly kind: "group" | "subshell" | "conditional";
  /** Words that are expanded before the body runs: the subject and the patterns of `case`. */
  readonly words: readonly Word[];
  readonly body: readonly Statement[];
  readonly redirections: readonly RedirectionNode[];
}

/** `for` and `select`. `values` is `undefined` if they go over the arguments. */
export interface Loop {
  readonly kind: "loop";
  readonly variable: string;
  readonly values: readonly Word[] | undefined;
  readonly body: readonly Statement[];
  readonly redirections: readonly RedirectionNode[];
}

/** `((…))`, and `for ((…))`, which has a body. */
export interface ArithmeticCommand {
  readonly kind: "arithmetic";
  readonly text: string;
  readonly expression: string;
  readonly expansions: readonly Expansion[];
  readonly body: readonly Statement[] | undefined;
  readonly redirections: readonly RedirectionNode[];
}

/** `[[ … ]]`. */
export interface TestCommand {
  readonly kind: "test";
  readonly text: string;
  readonly expansions: readonly Expansion[];
  readonly redirections: readonly RedirectionNode[];
}

export interface FunctionDefinition {
  readonly kind: "function";
  readonly name: string;
  readonly body: Command;
}

/** Commands that are connected by pipes. */
export interface Pipeline {
  readonly kind: "pipeline";
  readonly commands: readonly Command[];
}

/** Commands that are connected by `&&` and `||`; `operators` has one element fewer. */
export interface AndOrList {
  readonly kind: "and-or";
  readonly commands: readonly Command[];
  readonly operators: readonly ("&&" | "||")[];
}

export type Command = SimpleCommand | Group | Loop | ArithmeticCommand | TestCommand | FunctionDefinition | Pipeline | AndOrList;

/** A command that is run to its end or, in the background, beside the next one. */
export interface Statement {
  readonly command: Command;
  readonly isBackground: boolean;
}

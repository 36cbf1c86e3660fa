import { readArithmetic } from "./arithmetic.ts";
import type { Assignment } from "./assignments.ts";
import { PartReader } from "./part-reader.ts";
import { readSimpleCommand } from "./read-simple-command.ts";
import type { Constant, Constants, Scope } from "./reading.ts";
import type { ShellWord } from "./shell-word.ts";
import type {
  AndOrList,
  ArithmeticCommand,
  Command,
  FunctionDefinition,
  Group,
  Loop,
  Pipeline,
  SimpleCommand,
  Statement,
  TestCommand,
} from "./syntax/syntax-tree.ts";
import { readTest } from "./test-commands.ts";
import { isSteering } from "./variables.ts";

const MAX_DEPTH = 60;
/** Limits the values of a loop for which its body is read one by one. */
const MAX_ROUNDS = 10;
/** Limits the commands of one line. Nobody reads more of them before an approval, and each costs time. */
const MAX_COMMANDS = 2000;

/** Walks through the statements of one text and notes what each command in it does. */
export class StatementReader extends PartReader {
  statements(statements: readonly Statement[], scope: Scope): void {
    for (const statement of statements) this.#statement(statement, scope);
  }

  #statement({ command, isBackground }: Statement, scope: Scope): void {
    this.#command(command, isBackground ? { ...scope } : scope);
  }

  #command(command: Command, scope: Scope): void {
    if (++this.reading.visited > MAX_COMMANDS) {
      this.reading.unknown.add(`It has more than ${MAX_COMMANDS} commands, of which the rest are not read.`);
      return;
    }
    if (this.reading.depth >= MAX_DEPTH) {
      this.reading.unknown.add("It is nested too deeply to be read.");
      return;
    }
    this.reading.depth++;
    try {
      this.#read(command, scope);
    } finally {
      this.reading.depth--;
    }
  }

  #read(command: Command, scope: Scope): void {
    switch (command.kind) {
      case "simple":
        return this.#simple(command, scope);
      case "and-or":
        return this.#andOr(command, scope);
      case "pipeline":
        return this.#pipeline(command, scope);
      case "group":
      case "subshell":
      case "conditional":
        return this.#group(command, scope);
      case "loop":
        return this.#loop(command, scope);
      case "arithmetic":
        return this.#arithmetic(command, scope);
      case "test":
        return this.#test(command, scope);
      case "function":
        return this.#function(command, scope);
    }
  }

  #group({ kind, words, body, redirections }: Group, outer: Scope): void {
    const inner = this.under(redirections, outer);
    const scope = kind === "subshell" ? { ...inner } : inner;
    this.words(words, scope);
    if (kind === "conditional") this.#conditional(body, scope);
    else this.statements(body, scope);
    if (kind !== "subshell") outer.folders = scope.folders;
  }

  /** A branch may run or not, so both the folder before it and the one after it are possible. */
  #conditional(body: readonly Statement[], scope: Scope): void {
    const { constants } = scope;
    for (const statement of body) {
      const before = scope.folders;
      this.#statement(statement, scope);
      scope.folders = either(before, scope.folders);
    }
    setConstants(scope, constants);
  }

  #loop({ variable, values, body, redirections }: Loop, outer: Scope): void {
    const scope = this.under(redirections, outer);
    const words = this.words(values ?? [], scope);
    if (isSteering(variable)) this.reading.unknown.add(`${variable} is set, which changes what runs.`);
    // Without `in`, it goes over the arguments.
    const areNumbers = words.length > 0 && words.every(({ text, literal }) => literal && /^\d+$/.test(text));
    (areNumbers ? this.reading.numbers : this.reading.texts).add(variable);
    const constants = this.mentions.isSetOnce(variable) ? words.map(constantOf) : [];
    const { constants: before } = scope;
    const { commands } = this.reading;
    const start = commands.length;
    if (constants.length > 0 && constants.length <= MAX_ROUNDS && constants.every((constant) => constant !== undefined))
      for (const constant of constants) {
        setConstants(scope, new Map([...(before ?? []), [variable, constant]]));
        this.#conditional(body, scope);
      }
    else this.#conditional(body, scope);
    // Commands that are the same in each round are listed once.
    const first = new Map(commands.splice(start).map((command) => [JSON.stringify(command), command]));
    commands.push(...first.values());
    setConstants(scope, before);
    outer.folders = scope.folders;
  }

  #arithmetic({ text, expression, expansions, body, redirections }: ArithmeticCommand, outer: Scope): void {
    const scope = this.under(redirections, outer);
    // The three parts of a loop are expressions of their own.
    for (const part of body === undefined ? [expression] : expression.split(";")) readArithmetic(part, this.reading);
    this.expansions(expansions, scope);
    if (body === undefined) this.reading.commands.push({ text, readOnly: true });
    else this.#conditional(body, scope);
    outer.folders = scope.folders;
  }

  #andOr({ commands, operators }: AndOrList, scope: Scope): void {
    const start = scope.folders;
    let certain = scope.constants;
    commands.forEach((command, index) => {
      const isAlternative = operators[index - 1] === "||";
      if (isAlternative) {
        scope.folders = either(start, scope.folders);
        setConstants(scope, certain);
      }
      const before = scope.folders;
      this.#command(command, scope);
      if (isAlternative) scope.folders = either(before, scope.folders);
      if (index === 0) certain = scope.constants;
    });
    // The commands behind an operator may not have run.
    setConstants(scope, certain);
  }

  #pipeline({ commands }: Pipeline, scope: Scope): void {
    commands.forEach((command, index) => this.#command(command, { ...scope, ...(index > 0 && { fed: true }) }));
  }

  #function({ name, body }: FunctionDefinition, scope: Scope): void {
    this.reading.functions.add(name);
    this.#command(body, { ...scope, fed: true });
  }

  #simple({ text, assignments, words, redirections, declaration }: SimpleCommand, scope: Scope): void {
    const read = assignments.map((assignment) => this.assignment(assignment, scope));
    readSimpleCommand(
      {
        text,
        assignments: read,
        words: this.words(words, scope),
        redirections: redirections.flatMap((redirection) => this.redirection(redirection, scope)),
        ...(declaration !== undefined && { declaration }),
      },
      scope,
      this.reading,
    );
    if (words.length === 0 && declaration === undefined) this.#remember(read, scope);
  }

  /** Keeps the values of variables that are written out, and set nowhere else. */
  #remember(assignments: readonly Assignment[], scope: Scope): void {
    const found = assignments.filter(({ name, value, tilde }) => value !== undefined && tilde !== true && this.mentions.isSetOnce(name));
    if (found.length === 0) return;
    const added = found.map(({ name, value = "" }): [string, Constant] => [name, { text: value, isPattern: false }]);
    setConstants(scope, new Map([...(scope.constants ?? []), ...added]));
  }

  #test({ text, expansions, redirections }: TestCommand, scope: Scope): void {
    const inner = this.under(redirections, scope);
    this.expansions(expansions, inner);
    readTest(text, inner, this.reading);
  }
}

function setConstants(scope: Scope, constants: Constants | undefined): void {
  if (constants === undefined) delete scope.constants;
  else scope.constants = constants;
}

/** The value that a loop gives its variable. `undefined` if the line computes it. */
function constantOf({ text, literal, globs, tilde }: ShellWord): Constant | undefined {
  // Braces would be expanded again.
  return !literal || tilde || (globs && /[{}]/.test(text)) ? undefined : { text, isPattern: globs };
}

function either(a: readonly string[] | undefined, b: readonly string[] | undefined): readonly string[] | undefined {
  if (a === undefined || b === undefined) return undefined;
  const all = [...new Set([...a, ...b])];
  return all.length > 8 ? undefined : all;
}

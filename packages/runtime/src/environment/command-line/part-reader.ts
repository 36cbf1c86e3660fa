import { readArithmetic } from "./arithmetic.ts";
import { type Assignment, readAssignment } from "./assignments.ts";
import { type VariableMentions, withConstants } from "./constants.ts";
import { type Reading, type Scope, shorten } from "./reading.ts";
import { type Redirection, applyRedirection, readRedirection } from "./redirections.ts";
import { type ShellWord, shellWords } from "./shell-word.ts";
import type { AssignmentNode, Expansion, RedirectionNode, Statement, Word } from "./syntax/syntax-tree.ts";

/** What the parts of a command mean: its words with what is expanded in them, its assignments, its redirections. */
export abstract class PartReader {
  protected readonly reading: Reading;
  protected readonly mentions: VariableMentions;

  constructor(reading: Reading, mentions: VariableMentions) {
    this.reading = reading;
    this.mentions = mentions;
  }

  /** Reads the commands within a part. */
  abstract statements(statements: readonly Statement[], scope: Scope): void;

  /** Reads what bash runs to make words: `$(…)`, backticks, `<(…)`, and what stands in `${…}`. */
  protected expansions(expansions: readonly Expansion[], scope: Scope): void {
    for (const expansion of expansions) this.#expansion(expansion, scope);
  }

  protected words(words: readonly Word[], scope: Scope): readonly ShellWord[] {
    const hasCat = this.reading.functions.has("cat");
    return words.flatMap((word) => {
      this.expansions(word.expansions, scope);
      const { parts } = withConstants(word, scope.constants, hasCat);
      if (parts.some((part, index) => part !== word.parts[index])) this.reading.usesConstants = true;
      return shellWords(parts).map((found) => this.#withDash(found, scope));
    });
  }

  protected doubt(text: string): void {
    this.reading.unknown.add(`It can't be told how bash reads \`${shorten(text)}\`.`);
  }

  protected assignment({ name, text, subscript, value, elements }: AssignmentNode, scope: Scope): Assignment {
    if (subscript !== undefined) readArithmetic(subscript, this.reading);
    const values = this.words(elements ?? (value === undefined ? [] : [value]), scope);
    return readAssignment({ target: name, text, values, isArray: elements !== undefined }, this.reading);
  }

  protected redirection({ operator, target, expansions }: RedirectionNode, scope: Scope): readonly Redirection[] {
    this.expansions(expansions, scope);
    const words = target === undefined ? [] : this.words([target], scope);
    if (operator.startsWith("<<")) return [{ kind: "text" }];
    if (words.length > 1) {
      this.doubt(target?.text ?? operator);
      return [];
    }
    return [readRedirection(operator, words[0])];
  }

  /** The scope of the commands within one that is redirected. */
  protected under(redirections: readonly RedirectionNode[], scope: Scope): Scope {
    if (redirections.length === 0) return scope;
    const read = redirections.flatMap((redirection) => this.redirection(redirection, scope));
    const cautions = read.map((redirection) => applyRedirection(redirection, scope, this.reading));
    const caution = cautions.find((found) => found !== undefined) ?? scope.caution;
    const fed = scope.fed === true || read.some(({ kind }) => kind === "read" || kind === "text");
    return { ...scope, ...(caution !== undefined && { caution }), ...(fed && { fed }) };
  }

  /** A pattern without a folder matches names, and a name may begin with a dash. */
  #withDash(word: ShellWord, { folders }: Scope): ShellWord {
    const { surroundings } = this.reading;
    if (!word.globs || !/^[*?[@+!]/.test(word.text) || surroundings === undefined) return word;
    return folders?.every((folder) => !surroundings.hasDashed(folder)) === true ? word : { ...word, dashed: true };
  }

  #expansion(expansion: Expansion, scope: Scope): void {
    switch (expansion.kind) {
      case "substitution":
        if (expansion.isUnsure === true) this.doubt(expansion.text);
        return this.statements(expansion.statements, { ...scope });
      case "arithmetic":
        readArithmetic(expansion.expression, this.reading);
        return this.expansions(expansion.expansions, scope);
      case "parameter":
        this.reading.unknown.add(`What \`${shorten(expansion.text)}\` becomes can't be read.`);
        return this.expansions(expansion.expansions, scope);
    }
  }
}

import { type CompiledForm, compileForm, hasAny, kindsIn, listed, type OperandKind, operandKinds } from "./compiled-form.ts";
import { type EntryFacts, factsOfWords } from "./entry-facts.ts";
import type { ProgramEntry, ProgramForm, WordKind } from "./programs/program-entry.ts";
import type { ShellWord } from "./shell-word.ts";
import { createWordTaker, takeWord, type WordTaker } from "./word-taker.ts";

/** Reads the arguments of a command by the entry of its program. What the entry does not list is not understood. */
export function readByEntry(entry: ProgramEntry, args: readonly ShellWord[]): EntryFacts {
  return new EntryReader(entry, args).facts();
}

class EntryReader {
  readonly #entry: ProgramEntry;
  readonly #args: readonly ShellWord[];
  #form: CompiledForm;
  readonly #taken: WordTaker = createWordTaker();
  readonly #runs: (readonly ShellWord[])[] = [];
  readonly #options = new Set<string>();
  readonly #operands: ShellWord[] = [];
  /** The place of the subcommand, if options precede it. */
  #aliasFrom: number | undefined;
  readonly #only: string[] = [];
  /** Operands behind two dashes. */
  readonly #afterDashes = new Set<ShellWord>();
  /** An option was given that makes it more than a look. */
  #asks = false;
  /** It only prints something about itself. */
  #onlyPrints = false;

  constructor(entry: ProgramEntry, args: readonly ShellWord[]) {
    this.#entry = entry;
    this.#args = args;
    this.#form = compileForm(entry);
  }

  facts(): EntryFacts {
    this.#words();
    if (this.#runsInput()) this.#taken.unlisted.push(INPUT);
    if (this.#onlyPrints) return this.#result({ unasked: true });
    this.#assign(this.#operands, operandKinds(this.#form, this.#options));
    return this.#result(this.#form.form);
  }

  #result(form: ProgramForm): EntryFacts {
    return factsOfWords({
      form,
      taken: this.#taken,
      options: this.#options,
      runs: this.#runs,
      adds: this.#entry.adds,
      only: this.#only,
      asks: this.#asks,
      alias: this.#aliasFrom === undefined ? undefined : this.#args.slice(this.#aliasFrom),
    });
  }

  /** Goes over the words: options are taken by their spellings, operands are kept for the end. */
  #words(): void {
    let areOptions = true;
    if (this.#isAlone(-1)) return;
    for (let index = 0; index < this.#args.length; index++) {
      const word = this.#args[index] as ShellWord;
      const { form } = this.#form;
      if (areOptions && word.literal && word.text === "--" && !this.#form.flags.has("--")) {
        areOptions = false;
        if (form.rest === undefined) continue;
        const rest = this.#args.slice(index + 1).filter(({ text, literal }) => !(literal && this.#form.restFlags.has(text)));
        this.#assign(rest, kindsIn(form.rest));
        return;
      }
      if (areOptions && this.#isOption(word, index)) {
        index = this.#option(word, index);
        continue;
      }
      if (areOptions && mayBecomeOption(word) && form.anything !== true) {
        this.#refuse(word);
        continue;
      }
      const isFirst = areOptions && this.#operands.length === 0 && word.literal && !word.globs;
      const subcommand = isFirst ? this.#form.subcommands.get(word.text) : undefined;
      if (subcommand !== undefined) {
        if (index > 0) this.#aliasFrom = index;
        this.#form = compileForm(subcommand);
        if (this.#isAlone(index)) return;
        continue;
      }
      if (this.#startsCommand(word)) {
        this.#runs.push(this.#args.slice(index));
        return;
      }
      this.#operands.push(word);
      if (!areOptions) this.#afterDashes.add(word);
      if (form.stops === true || this.#kinds().some(({ kind }) => kind === "command")) areOptions = false;
    }
  }

  /** True if one word that has it print something about itself is all that follows this place. */
  #isAlone(index: number): boolean {
    const rest = this.#args.slice(index + 1);
    if (rest.length === 1 && rest[0]?.literal === true && this.#form.alone.has(rest[0].text)) this.#onlyPrints = true;
    return this.#onlyPrints;
  }

  /** True if it runs its input as code: an interpreter without a script, or a program that starts a command and is given none, such as `npx`. */
  #runsInput(): boolean {
    const { form } = this.#form;
    const isOther = Object.keys(form.operandsWith ?? {}).some((options) => hasAny(options, this.#options));
    if (this.#onlyPrints || isOther || this.#runs.length + this.#taken.shell.length > 0) return false;
    const isStarter = form.unasked !== true && this.#kinds().some(({ kind }) => kind === "command");
    return isStarter || (this.#entry.runsInput === true && this.#operands.length === 0);
  }

  #kinds(): readonly OperandKind[] {
    return operandKinds(this.#form, this.#options) ?? [];
  }

  /** True if a command begins with this operand. Assignments may precede it. */
  #startsCommand(word: ShellWord): boolean {
    const kinds = this.#kinds();
    const at = kinds.findIndex(({ kind }) => kind === "command");
    if (at < 0) return false;
    const before = kinds.slice(0, at);
    const isAssigning = before.at(-1)?.kind === "assignment";
    const own = before.length - (isAssigning ? 1 : 0);
    if (this.#operands.length < own) return false;
    return !(isAssigning && /^[^=/]+=/.test(word.text));
  }

  #isOption({ text, literal }: ShellWord, index: number): boolean {
    if (this.#form.form.anything === true) return false;
    if (!literal) return /^[-+]./.test(text);
    const { form, flags, values } = this.#form;
    if (text.length > 1 && text.startsWith("-")) return true;
    if (flags.has(text) || (form.singleDash === true && values.has(text))) return true;
    if (text.length > 1 && text.startsWith("+")) return [...flags, ...values.keys()].some((spelling) => spelling.startsWith("+"));
    return form.dashless === true && index === 0;
  }

  /** Takes an option with its value. Returns the place of the last word that belongs to it. */
  #option(word: ShellWord, index: number): number {
    const { text } = word;
    const { form, flags, values } = this.#form;
    const single = form.singleDash === true && !text.startsWith("--");
    if (flags.has(text)) return this.#note(text, index);
    if (values.has(text)) return this.#value(text, index);
    if (this.#form.optional.has(text)) return this.#note(text, index);
    if (this.#form.pairs.has(text)) return this.#several(text, index);
    if (form.numbers === true && /^-\d+$/.test(text)) return index;
    if (text.startsWith("--") || single) {
      const equals = text.indexOf("=");
      const name = equals < 0 ? text : text.slice(0, equals);
      const kind = equals < 0 ? undefined : (values.get(name) ?? this.#form.optional.get(name));
      if (kind === undefined) this.#refuse(word);
      else this.#attached(name, { word, from: equals + 1 }, kind);
      return index;
    }
    return this.#cluster(word, index);
  }

  /** Takes single letters behind one dash. The value of the last one may be attached or follow. */
  #cluster(word: ShellWord, index: number): number {
    const { text } = word;
    const { flags, values, optional, form } = this.#form;
    const start = form.dashless === true && !text.startsWith("-") ? 0 : 1;
    const sign = text.startsWith("+") ? "+" : "-";
    let end = index;
    for (let at = start; at < text.length; at++) {
      const spelling = `${sign}${text[at]}`;
      const rest = text.slice(at + 1);
      const kind = values.get(spelling) ?? optional.get(spelling);
      if (kind !== undefined) {
        // Values of a cluster that has no dash follow it, in the order of its letters.
        if (rest !== "" && start === 1) this.#attached(spelling, { word, from: at + 1 }, kind);
        else if (values.has(spelling)) end = this.#value(spelling, end);
        else this.#note(spelling, index);
        if (start === 1) return end;
      } else if (flags.has(spelling)) this.#note(spelling, index);
      else {
        this.#refuse(word);
        return end;
      }
    }
    return end;
  }

  #note(spelling: string, index: number): number {
    this.#options.add(spelling);
    if (this.#form.asks.has(spelling)) this.#asks = true;
    return index;
  }

  /** Takes a value that begins in the middle of a word. */
  #attached(spelling: string, { word, from }: { readonly word: ShellWord; readonly from: number }, kind: WordKind): void {
    this.#note(spelling, 0);
    const value = { ...word, text: word.text.slice(from), tilde: false };
    if (value.globs || !takeWord(value, kind, this.#taken)) this.#refuse(word);
    this.#restrict(spelling, value);
  }

  #restrict(spelling: string, { text }: ShellWord): void {
    if (!text.startsWith("!") && listed(this.#form.form.only).includes(spelling)) this.#only.push(text);
  }

  #value(spelling: string, index: number): number {
    this.#note(spelling, index);
    const kind = this.#form.values.get(spelling) as WordKind;
    const value = this.#args[index + 1];
    if (value === undefined) {
      this.#refuse(this.#args[index] as ShellWord);
      return index;
    }
    if (kind === "command") return this.#started(index + 1);
    if (kind === "module") {
      this.#runs.push(this.#args.slice(index + 1));
      return this.#args.length;
    }
    if (value.globs || !takeWord(value, kind, this.#taken)) this.#refuse(value);
    this.#restrict(spelling, value);
    return index + 1;
  }

  /** Takes an option with several values. Returns the place of the last one. */
  #several(spelling: string, index: number): number {
    this.#note(spelling, index);
    const kinds = this.#form.pairs.get(spelling) ?? [];
    kinds.forEach((kind, at) => {
      const value = this.#args[index + 1 + at];
      if (value === undefined) this.#refuse(this.#args[index] as ShellWord);
      else if (value.globs || !takeWord(value, kind, this.#taken)) this.#refuse(value);
    });
    return index + kinds.length;
  }

  /** Takes the command after `-exec` up to its end. */
  #started(start: number): number {
    const end = this.#args.findIndex(
      ({ text }, at) => at >= start && (text === ";" || (text === "+" && this.#args[at - 1]?.text === "{}")),
    );
    const command = this.#args.slice(start, end < 0 ? undefined : end);
    this.#taken.placeholder = "{}";
    if (command.length > 0) this.#runs.push(command);
    if (end < 0) this.#taken.unlisted.push("-exec");
    return end < 0 ? this.#args.length : end;
  }

  #refuse({ text }: ShellWord): void {
    this.#taken.unlisted.push(text);
  }

  /** Gives the operands their kinds: those before the one that repeats from the front, those after it from the end. */
  #assign(operands: readonly ShellWord[], kinds: readonly OperandKind[] | undefined): void {
    const named = operands.filter((word) => !this.#key(word));
    if (kinds === undefined) return named.forEach((word) => this.#refuse(word));
    const own = kinds.filter(({ kind }) => kind !== "command");
    const repeated = own.findIndex(({ repeats }) => repeats);
    const after = repeated < 0 ? 0 : own.length - repeated - 1;
    const sources: ShellWord[] = [];
    named.forEach((word, index) => {
      const fromEnd = named.length - index;
      const found = repeated < 0 || index < repeated ? own[index] : fromEnd <= after ? own[own.length - fromEnd] : own[repeated];
      if (found === undefined || !this.#operand(word, found)) this.#refuse(word);
      else if (found.kind === "into") this.#taken.writes.push(...sources.map((source) => within(word, source)));
      else sources.push(word);
    });
  }

  #operand(word: ShellWord, { kind, repeats }: OperandKind): boolean {
    // A pattern of files may become any number of words.
    if (word.globs && !repeats && kind !== "into") return false;
    // However many words it becomes, all of them are text. That none becomes an option was checked before.
    if (kind === "text" && repeats) return true;
    return takeWord(word, kind === "revision" && this.#afterDashes.has(word) ? "pathspec" : kind, this.#taken);
  }

  /** Takes `if=file`. False if it is no operand of that form. */
  #key(word: ShellWord): boolean {
    const name = /^([\w-]+)=/.exec(word.text)?.[1];
    const kind = name === undefined ? undefined : this.#form.keys.get(name);
    if (kind === undefined || name === undefined) return false;
    if (!takeWord({ ...word, text: word.text.slice(name.length + 1) }, kind, this.#taken)) this.#refuse(word);
    return true;
  }
}

/** The name of a program's input among its words. */
const INPUT = "-";

/** True if the shell may make an option of it: it begins with an expansion, or matches a name with a dash. */
function mayBecomeOption({ text, literal, dashed }: ShellWord): boolean {
  return (!literal && /^[$`…](?![?!$#]$)/.test(text)) || dashed === true;
}

/** The name under which a file goes into a folder. */
function within(folder: ShellWord, { text, literal, globs }: ShellWord): ShellWord {
  const name = text.replace(/\/+$/, "").replace(/^.*\//, "");
  return { ...folder, text: `${folder.text}/${name}`, literal: folder.literal && literal, globs: folder.globs || globs };
}

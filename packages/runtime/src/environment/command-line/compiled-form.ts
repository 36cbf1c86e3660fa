import type { ProgramForm, SpellingsByKind, WordKind } from "./programs/program-entry.ts";

/** A kind of an operand in its place. */
export interface OperandKind {
  readonly kind: WordKind;
  readonly repeats: boolean;
}

/** A form with its lists taken apart. */
export interface CompiledForm {
  readonly form: ProgramForm;
  readonly flags: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, WordKind>;
  readonly optional: ReadonlyMap<string, WordKind>;
  readonly keys: ReadonlyMap<string, WordKind>;
  readonly pairs: ReadonlyMap<string, readonly WordKind[]>;
  readonly asks: ReadonlySet<string>;
  readonly given: ReadonlySet<string>;
  readonly alone: ReadonlySet<string>;
  readonly restFlags: ReadonlySet<string>;
  readonly subcommands: ReadonlyMap<string, ProgramForm>;
}

const compiled = new WeakMap<ProgramForm, CompiledForm>();

/** Takes the lists of a form apart when it is first used. */
export function compileForm(form: ProgramForm): CompiledForm {
  const known = compiled.get(form);
  if (known !== undefined) return known;
  const made: CompiledForm = {
    form,
    flags: new Set(listed(form.flags)),
    values: byKind(form.values),
    optional: byKind(form.optional),
    keys: byKind(form.keys),
    pairs: new Map(
      Object.entries(form.pairs ?? {}).flatMap(([kinds, list]) =>
        listed(list).map((spelling): [string, readonly WordKind[]] => [spelling, listed(kinds) as readonly WordKind[]]),
      ),
    ),
    asks: new Set(listed(form.asks)),
    given: new Set(listed(form.given)),
    alone: new Set(listed(form.alone)),
    restFlags: new Set(listed(form.restFlags)),
    subcommands: new Map(
      Object.entries(form.subcommands ?? {}).flatMap(([names, sub]) => listed(names).map((name): [string, ProgramForm] => [name, sub])),
    ),
  };
  compiled.set(form, made);
  return made;
}

/** Returns the kinds of operands under these options. `undefined` if the form understands none. */
export function operandKinds({ form, given }: CompiledForm, options: ReadonlySet<string>): readonly OperandKind[] | undefined {
  const special = Object.entries(form.operandsWith ?? {}).find(([names]) => hasAny(names, options));
  const kinds = special?.[1] ?? form.operands;
  if (kinds === undefined) return undefined;
  const list = kindsIn(kinds);
  return [...given].some((option) => options.has(option)) ? list.slice(1) : list;
}

export function kindsIn(kinds: string): readonly OperandKind[] {
  return listed(kinds).map((text) => ({ kind: text.replace(/\.\.\.$/, "") as WordKind, repeats: text.endsWith("...") }));
}

/** True if one of the spellings in the list is among the options. */
export function hasAny(list: string, options: ReadonlySet<string>): boolean {
  return listed(list).some((spelling) => options.has(spelling));
}

export function listed(list: string | undefined): readonly string[] {
  return list === undefined ? [] : list.split(/\s+/).filter((text) => text !== "");
}

function byKind(spellings: SpellingsByKind | undefined): ReadonlyMap<string, WordKind> {
  return new Map(
    Object.entries(spellings ?? {}).flatMap(([kind, list]) =>
      listed(list).map((spelling): [string, WordKind] => [spelling, kind as WordKind]),
    ),
  );
}

import type { Reading } from "./reading.ts";
import type { ShellWord } from "./shell-word.ts";
import { isHarmlessVariable, isOrdinary, isSteering } from "./variables.ts";

export interface Assignment {
  readonly name: string;
  /** The assignment as it is written. */
  readonly text: string;
  /** Its value, if that is written out. Bash expands a tilde in it. */
  readonly value?: string;
  readonly tilde?: boolean;
  /** Why what runs under it may not be what its text says. */
  readonly caution?: string;
  /** It changes which programs run, or what they load. */
  readonly redirects: boolean;
  /** Its value runs where it is expanded again. */
  readonly holdsCode?: boolean;
}

const PLAIN_VALUE = /^[\w ./:,@%+=~^-]*$/;

/** The assignments before a program, or exported to programs, that may change what these run. */
export function unlistedAssignments(assignments: readonly Assignment[]): readonly string[] {
  return assignments.filter(({ name, value }) => value === undefined || !isHarmlessVariable(name, value)).map(({ text }) => text);
}

export function readAssignment(
  written: { readonly target: string; readonly text: string; readonly values: readonly ShellWord[]; readonly isArray: boolean },
  reading: Reading,
): Assignment {
  const { target, text, values, isArray } = written;
  const name = /^\w+/.exec(target)?.[0] ?? target;
  const isNumber = !isArray && values.every(({ text, literal }) => literal && /^-?\d*$/.test(text));
  const calculates = !isArray && values.length === 1 && values[0]?.text.startsWith("$((") === true && values[0].text.endsWith("))");
  const sets = (isNumber || calculates) && isOrdinary(name) ? reading.numbers : reading.texts;
  sets.add(name);
  const [only] = values;
  const value =
    isArray || values.length > 1 || target !== name || only?.literal === false || !text.startsWith(`${name}=`)
      ? undefined
      : (only?.text ?? "");
  const tilde = value !== undefined && /(?:^|:)~/.test(value);
  const assignment = { name, text, ...(value !== undefined && { value }), ...(tilde && { tilde }) };
  if (isSteering(name)) return { ...assignment, redirects: true, caution: `${name} is set, which changes what runs.` };
  // Whatever expands the value again runs what stands in it.
  if (values.some(({ text, literal }) => literal && !PLAIN_VALUE.test(text) && /[`$(]/.test(text)))
    return { ...assignment, redirects: false, holdsCode: true, caution: `${name} is set to text that may run as code.` };
  if (values.some(({ substitutes }) => substitutes))
    return { ...assignment, redirects: false, caution: `${name} is set to what a command prints.` };
  return { ...assignment, redirects: false };
}

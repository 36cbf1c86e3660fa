import { secretsOfVariable } from "./secret-variable.ts";

export type Variables = { readonly [name: string]: string };
type Inherited = { readonly [name: string]: string | undefined };

/** The environment of programs that are started here. */
export interface ChildEnvironment {
  readonly variables: Variables;
  readonly withheld: readonly WithheldVariable[];
  /** Texts of variables that look like secrets, withheld or passed on, each with the name of its variable. They must not be shown. */
  readonly secrets: readonly { readonly name: string; readonly value: string }[];
}

export interface WithheldVariable {
  readonly name: string;
  /** `secret`: its name or its value looks like one. `unlisted`: no list names it. */
  readonly reason: "secret" | "unlisted";
}

export interface ChildEnvironmentOptions {
  /** Variables that are passed on unless they look like secrets: names, and beginnings with a `*`. `all`: every one. */
  readonly listed: readonly string[] | "all";
  /** The same, of which a whole name passes on a variable although it looks like a secret. `all`: every one, secrets too. Default: none. */
  readonly pass?: readonly string[] | "all" | undefined;
}

/** Decides for each variable whether programs get it. All environments of commands, hooks and servers are made here. */
export function createChildEnvironment(inherited: Inherited, { listed, pass = [] }: ChildEnvironmentOptions): ChildEnvironment {
  const variables: { [name: string]: string } = {};
  const withheld: WithheldVariable[] = [];
  const secrets: { readonly name: string; readonly value: string }[] = [];
  const isListed = matcherOf(listed);
  const isPassed = matcherOf(pass);
  const isNamed = (name: string): boolean => pass === "all" || pass.includes(name);
  for (const [name, value] of Object.entries(inherited)) {
    if (value === undefined) continue;
    const hidden = knownSecrets(name, value);
    for (const text of hidden ?? []) secrets.push({ name, value: text });
    if (isNamed(name) || (hidden === undefined && (isListed(name) || isPassed(name)))) variables[name] = value;
    else withheld.push({ name, reason: hidden === undefined ? "unlisted" : "secret" });
  }
  return { variables, withheld, secrets };
}

const MAX_KNOWN = 2_000;
const known = new Map<string, readonly string[] | undefined>();

/** Remembers what was found: a sandbox makes the environment of each command again, from the same variables. */
function knownSecrets(name: string, value: string): readonly string[] | undefined {
  const variable = `${name}=${value}`;
  if (known.has(variable)) return known.get(variable);
  if (known.size >= MAX_KNOWN) known.clear();
  const found = secretsOfVariable(name, value);
  known.set(variable, found);
  return found;
}

function matcherOf(patterns: readonly string[] | "all"): (name: string) => boolean {
  if (patterns === "all") return () => true;
  const names = new Set(patterns);
  const beginnings = patterns.flatMap((pattern) => (pattern.endsWith("*") ? [pattern.slice(0, -1)] : []));
  return (name) => names.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
}

/** The variables of `inherited` without those that look like secrets, except the ones named in `pass`. */
export function withoutSecrets(inherited: Inherited, pass: readonly string[] | "all"): Variables {
  return createChildEnvironment(inherited, { listed: "all", pass }).variables;
}

const NEEDED = ["PATH", "HOME", "TMPDIR"];

/** What a program that is given nothing else is still started with: where programs are, its home, and where temporary files go. */
export function neededToRun(inherited: Inherited): Variables {
  return Object.fromEntries(NEEDED.flatMap((name) => (inherited[name] === undefined ? [] : [[name, inherited[name]]])));
}

import { checkOptionNames } from "../../json/option-names.ts";
import { SecretFinder, type FoundSecret, type KnownSecret } from "../../environment/secrets/find-secrets.ts";
import { RedactionStream } from "./redaction-stream.ts";
import { looksSecret } from "../../environment/secrets/looks-secret.ts";
import type { SecretShape } from "../../environment/secrets/secret-shape.ts";
import { SECRET_SHAPES } from "../../environment/secrets/secret-shapes.ts";

export interface RedactorOptions {
  /** Values that must not be seen, however they are written. A name is told in their place; without one they are a `secret`. */
  readonly secrets?: readonly (string | { readonly name: string; readonly value: string })[] | undefined;
  /** Shapes of your own, beside those of common vendors. A `RegExp` is tried at every character: with `begins` it is faster. */
  readonly patterns?: readonly (RegExp | SecretShape)[] | undefined;
  /** Whether to look for the secrets of common vendors. Default true. */
  readonly vendors?: boolean | undefined;
  /** What stands in the place of a secret. Default `[REDACTED:kind]`. */
  readonly replacement?: ((kind: string) => string) | undefined;
}

/** A text in pieces; see {@link Redactor.stream}. */
export interface TextRedaction {
  /** What can be shown, now that this has come. */
  push(piece: string): string;
  /** The rest. What comes after it is another text. */
  end(): string;
}

/** Takes secrets out of what is shown, kept or passed on. */
export interface Redactor {
  redact(text: string): string;
  /** The same value of JSON with all of its texts redacted, names of members among them. It is the value itself where there is nothing to take out. */
  redactJson<Value>(value: Value): Value;
  /** For a text that comes in pieces: what it gives, put together, is what `redact` gives for all of it. */
  stream(): TextRedaction;
  /** Where secrets stand in a text. */
  find(text: string): readonly FoundSecret[];
  /** From now on this value is known, too. Streams that have begun do not look for it. */
  learn(secret: string, name?: string): void;
}

/** Members whose text is a secret, unless it looks like a placeholder. */
const SECRET_NAME =
  /(?:password|passwd|passphrase|secret|secret[-_]?key|api[-_]?key|access[-_]?key|private[-_]?key|(?:auth|access|refresh|session|bearer)[-_]?token|authorization|cookie)$/i;

/**
 * ```ts
 * const redactor = createRedactor({ secrets: [{ name: "database", value: password }] });
 * console.log(redactor.redact(`psql failed for ${password}`)); // psql failed for [REDACTED:database]
 * ```
 *
 * Known values are found in all their usual spellings; see {@link SECRET_SHAPES} for what else. What a secret was cut into, encrypted or
 * compressed to is not found: keep secrets out of reach of those who would.
 */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  checkOptionNames("createRedactor", options, { secrets: true, patterns: true, vendors: true, replacement: true });
  const { secrets = [], patterns = [], vendors = true, replacement = (kind) => `[REDACTED:${kind}]` } = options;
  const shapes = [
    ...patterns.map((pattern) => (pattern instanceof RegExp ? { kind: "custom", pattern } : pattern)),
    ...(vendors ? SECRET_SHAPES : []),
  ];
  const known: KnownSecret[] = secrets.map((secret) =>
    typeof secret === "string" ? { kind: "secret", value: secret } : { kind: secret.name, value: secret.value },
  );
  let finder = new SecretFinder(known, shapes);

  const redact = (text: string): string => new RedactionStream(finder, replacement).end(text);
  const redactJson = (value: unknown): unknown => {
    if (typeof value === "string") return redact(value);
    if (typeof value !== "object" || value === null) return value;
    const before: readonly unknown[] = Object.values(value);
    const given = Array.isArray(value) ? [] : Object.keys(value);
    const after = before.map((member, index) => redactMember(given[index], member));
    const names = given.map(redact);
    if (before.every((member, index) => member === after[index] && given[index] === names[index])) return value;
    return Array.isArray(value) ? after : Object.fromEntries(names.map((name, index) => [name, after[index]]));
  };

  const redactMember = (name: string | undefined, member: unknown): unknown => {
    const redacted = redactJson(member);
    const isNamed = vendors && redacted === member && typeof member === "string" && SECRET_NAME.test(name ?? "") && looksSecret(member);
    return isNamed ? replacement("secret") : redacted;
  };

  return {
    redact,
    redactJson: <Value>(value: Value): Value => redactJson(value) as Value,
    stream: () => new RedactionStream(finder, replacement),
    find: (text) => finder.find(text, 0, true).found,
    learn(value, name = "secret") {
      if (known.some((secret) => secret.value === value)) return;
      known.push({ kind: name, value });
      finder = new SecretFinder(known, shapes);
    },
  };
}

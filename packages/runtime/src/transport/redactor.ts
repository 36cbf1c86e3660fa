/** What stands in the place of a secret. */
export const REDACTED = "[redacted]";

export interface RedactionOptions {
  /** Values that must not be kept, wherever they stand. */
  readonly secrets?: readonly string[] | undefined;
  /** More shapes of secrets, beside the built-in ones. */
  readonly patterns?: readonly RegExp[] | undefined;
}

/**
 * Keys as the servers of models are sent them, and places where nothing else stands. The whole list of what vendors issue is that of `security`, which
 * this row can't know and importing the package must not load.
 */
const SECRET_SHAPES: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bBearer\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bA(?:KIA|SIA)[A-Z0-9]{16}\b/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /(?<=[?&](?:key|api[-_]?key|access_token|sig|signature|token)=)[^&"\s]+/gi,
];

export type Redact = (text: string) => string;

export function redactor(options: RedactionOptions = {}): Redact {
  // The longest first: a short secret may be a part of a long one.
  const values = (options.secrets ?? [])
    .filter((secret) => secret.length > 0)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  const unique = [...new Set(values)].sort((a, b) => b.length - a.length);
  const shapes = [
    ...SECRET_SHAPES,
    ...(options.patterns ?? []).map((pattern) => (pattern.global ? pattern : new RegExp(pattern.source, `${pattern.flags}g`))),
  ];
  return (text) => {
    let safe = text;
    for (const value of unique) safe = safe.replaceAll(value, REDACTED);
    for (const shape of shapes) safe = safe.replace(shape, REDACTED);
    return safe;
  };
}

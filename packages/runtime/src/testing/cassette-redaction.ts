import { createRedactor } from "../security/redaction/redactor.ts";
import { type Redact, REDACTED, type RedactionOptions, redactor } from "../transport/redactor.ts";

export { type Redact, REDACTED, type RedactionOptions } from "../transport/redactor.ts";

/** Headers that are secrets, or say who the caller is. */
const SECRET_HEADER =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-key|x-goog-api-key|x-amz-security-token|openai-(?:organization|project)|anthropic-organization-id|cf-ray)$/i;

/** What is shorter may be a part of other words. */
const LEAST_KEY_LENGTH = 8;

/** Takes out what a request is let in with as well: servers repeat it, in what they say of a key that they refuse for one. */
export function redactorFor(options: RedactionOptions, headers: Iterable<readonly [string, string]>): Redact {
  const sent = [...headers]
    .filter(([name]) => SECRET_HEADER.test(name))
    .map(([, value]) => value.replace(/^(?:Bearer|Basic)\s+/i, "").trim());
  const secrets = [...(options.secrets ?? []), ...sent.filter((value) => value.length >= LEAST_KEY_LENGTH)];
  // What stands where only keys do goes whatever it looks like; then all spellings and all that vendors issue.
  const places = redactor({ ...options, secrets });
  const { redact } = createRedactor({ secrets, replacement: () => REDACTED });
  return (text) => redact(places(text));
}

export function redactHeaders(headers: Iterable<readonly [string, string]>, redact: Redact): { [name: string]: string } {
  const safe: { [name: string]: string } = {};
  for (const [name, value] of headers) safe[name.toLowerCase()] = SECRET_HEADER.test(name) ? REDACTED : redact(value);
  return safe;
}

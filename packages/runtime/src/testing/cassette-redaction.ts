import { type Redact, REDACTED } from "../transport/redactor.ts";

export { type Redact, REDACTED, type RedactionOptions, redactor } from "../transport/redactor.ts";

/** Headers that are secrets, or say who the caller is. */
const SECRET_HEADER =
  /^(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key|api-key|x-goog-api-key|x-amz-security-token|openai-(?:organization|project)|anthropic-organization-id|cf-ray)$/i;

export function redactHeaders(headers: Iterable<readonly [string, string]>, redact: Redact): { [name: string]: string } {
  const safe: { [name: string]: string } = {};
  for (const [name, value] of headers) safe[name.toLowerCase()] = SECRET_HEADER.test(name) ? REDACTED : redact(value);
  return safe;
}

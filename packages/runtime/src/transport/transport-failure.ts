import { ModelError } from "@keelson/protocol";
import type { RequestOrigin } from "./transport.ts";

/** What the platform's certificate checks call themselves: trying again cannot help. */
const CERTIFICATE_CODE = /^(?:CERT_|ERR_TLS_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(?:GET|VERIFY)_)/;

export function cancelled(origin: RequestOrigin | undefined, reason: unknown): ModelError {
  return new ModelError({ kind: "cancelled", message: "the model call was cancelled", ...origin }, { cause: reason });
}

export function timedOut(origin: RequestOrigin | undefined, what: string, timeoutMs: number, name: string): ModelError {
  return new ModelError({ kind: "server-error", message: `${what} within ${timeoutMs} ms (timeouts.${name})`, code: "timeout", ...origin });
}

/** The connection failed or broke off. */
export function connectionFailed(origin: RequestOrigin | undefined, host: string, cause: unknown, answerBegan: boolean): ModelError {
  if (ModelError.is(cause)) return cause;
  const code = errorCode(cause);
  const detail = detailOf(cause);
  if (code !== undefined && CERTIFICATE_CODE.test(code)) {
    return new ModelError(
      {
        kind: "other",
        message: `the TLS certificate of ${host} was refused: ${detail}; name its authority in the option tls.ca or in NODE_EXTRA_CA_CERTS`,
        code,
        ...origin,
      },
      { cause },
    );
  }
  const message = answerBegan
    ? `the connection to ${host} broke off in the middle of the answer: ${detail}`
    : `no answer from ${host}: ${detail}`;
  return new ModelError({ kind: "server-error", message, ...(code !== undefined && { code }), ...origin }, { cause });
}

function errorCode(cause: unknown): string | undefined {
  const own = (cause as { code?: unknown } | undefined)?.code;
  if (typeof own === "string") return own;
  // `fetch` wraps the reason; "happy eyeballs" wraps one reason per address.
  const inner =
    (cause as { cause?: unknown; errors?: readonly unknown[] } | undefined)?.cause ??
    (cause as { errors?: readonly unknown[] } | undefined)?.errors?.[0];
  return inner === undefined ? undefined : errorCode(inner);
}

function detailOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const inner = (cause as { cause?: unknown; errors?: readonly unknown[] }).cause ?? (cause as { errors?: readonly unknown[] }).errors?.[0];
  const own = cause.message === "" ? (errorCode(cause) ?? cause.name) : cause.message;
  return inner instanceof Error && !own.includes(inner.message) ? `${own}: ${detailOf(inner)}` : own;
}

import { ModelError, type RequestProgress } from "@keelson/protocol";
import type { RequestOrigin } from "./transport.ts";

/** What the platform's certificate checks call themselves: trying again cannot help. */
const CERTIFICATE_CODE = /^(?:CERT_|ERR_TLS_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(?:GET|VERIFY)_)/;

/** What the platform says of a connection that never stood; over a connection that stands, nobody looks for a host. */
const NEVER_CONNECTED: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
]);

export function cancelled(origin: RequestOrigin | undefined, reason: unknown, progress: RequestProgress): ModelError {
  return new ModelError({ kind: "cancelled", message: "the model call was cancelled", progress, ...origin }, { cause: reason });
}

export function timedOut(
  origin: RequestOrigin | undefined,
  what: string,
  timeoutMs: number,
  name: string,
  progress: RequestProgress,
): ModelError {
  const message = `${what} within ${timeoutMs} ms (timeouts.${name})`;
  return new ModelError({ kind: "server-error", message, code: "timeout", progress, ...origin });
}

/** Whether what failed was the attempt to connect, so that nothing was sent. For clients that do not say themselves when they are connected. */
export function neverConnected(cause: unknown): boolean {
  for (let error = cause as { cause?: unknown; errors?: readonly unknown[]; code?: unknown; syscall?: unknown } | undefined, depth = 0; ;) {
    if (typeof error !== "object" || error === null || depth++ > 4) return false;
    const { code, syscall } = error;
    if (syscall === "connect" || syscall === "getaddrinfo") return true;
    if (typeof code === "string" && (NEVER_CONNECTED.has(code) || CERTIFICATE_CODE.test(code))) return true;
    error = (error.cause ?? error.errors?.[0]) as typeof error;
  }
}

/** The connection failed or broke off. */
export function connectionFailed(origin: RequestOrigin | undefined, host: string, cause: unknown, progress: RequestProgress): ModelError {
  if (ModelError.is(cause)) return cause;
  const code = errorCode(cause);
  const detail = detailOf(cause);
  if (code !== undefined && CERTIFICATE_CODE.test(code)) {
    return new ModelError(
      {
        kind: "other",
        message: `the TLS certificate of ${host} was refused: ${detail}; name its authority in the option tls.ca or in NODE_EXTRA_CA_CERTS`,
        code,
        progress,
        ...origin,
      },
      { cause },
    );
  }
  const message =
    progress === "begun"
      ? `the connection to ${host} broke off in the middle of the response: ${detail}`
      : `no response from ${host}: ${detail}`;
  return new ModelError({ kind: "server-error", message, ...(code !== undefined && { code }), progress, ...origin }, { cause });
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

/** Node's words for an end before the end. */
const CLOSED = new Set(["aborted", "socket hang up", "Premature close"]);

function detailOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (CLOSED.has(cause.message)) return "the server closed the connection";
  if (errorCode(cause)?.startsWith("HPE_") === true) return `the response is malformed: ${cause.message.replace(/^Parse Error: /, "")}`;
  const inner = (cause as { cause?: unknown; errors?: readonly unknown[] }).cause ?? (cause as { errors?: readonly unknown[] }).errors?.[0];
  const own = cause.message === "" ? (errorCode(cause) ?? cause.name) : cause.message;
  return inner instanceof Error && !own.includes(inner.message) ? `${own}: ${detailOf(inner)}` : own;
}

import { ModelError, type ModelFailure } from "@keelson/protocol";
import { saysOverflow } from "./overflow-wordings.ts";

/** What a vendor said of its error, whatever the shape it said it in. */
export interface VendorError {
  readonly message: string;
  readonly type?: string;
  readonly code?: string;
  readonly requestId?: string;
  /** How long to wait, where the body says it. */
  readonly retryAfterMs?: number;
}

export interface FailureContext {
  readonly provider: string;
  readonly model: string;
}

/** What knows the headers of a response, by lower-case name. */
export interface HeaderLookup {
  header(name: string): string | undefined;
}

/** Bytes of an error body that are read. */
export const MAX_ERROR_BYTES: number = 256 * 1024;

type Kind = ModelFailure["kind"];

/** `{ error: {…} }`, `{ error: "…" }`, `{ message }`, `{ detail }`, `[{ error }]`, or no JSON at all. */
export function readVendorError(body: unknown): VendorError {
  if (typeof body === "string") {
    try {
      const parsed: unknown = JSON.parse(body);
      if (typeof parsed === "object" && parsed !== null) return readVendorError(parsed);
    } catch {
      // Not JSON: a proxy's page, or plain words. They are the message.
    }
    return { message: plainWords(body) };
  }
  if (Array.isArray(body)) return readVendorError(body[0] ?? "");
  if (typeof body !== "object" || body === null) return { message: "" };
  const outer = body as Record<string, unknown>;
  const error = typeof outer["error"] === "object" && outer["error"] !== null ? (outer["error"] as Record<string, unknown>) : outer;
  const told =
    [error["message"], outer["error"], outer["message"], outer["detail"], error["detail"]].map(words).find((text) => text !== "") ??
    JSON.stringify(body).slice(0, 500);
  const message = withUpstream(told, error["metadata"]);
  const type = nameOf(error["type"]);
  // Google's code is the HTTP status once more; its word for it stands beside.
  const code = googleStatus(error) ?? nameOf(error["code"]) ?? nameOf((error["innererror"] as { code?: unknown } | undefined)?.code);
  const retryAfterMs = googleRetryDelay(error["details"]);
  const requestId = nameOf(outer["request_id"]);
  return {
    message,
    ...(type !== undefined && { type }),
    ...(code !== undefined && { code }),
    ...(requestId !== undefined && { requestId }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

function googleStatus(error: { readonly [name: string]: unknown }): string | undefined {
  return typeof error["code"] === "number" && typeof error["status"] === "string" && /^\w+$/.test(error["status"])
    ? error["status"]
    : undefined;
}

/** `google.rpc.RetryInfo` among the details: `{ retryDelay: "34.4s" }`. */
function googleRetryDelay(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined;
  for (const detail of details as readonly unknown[]) {
    const delay = (detail as { retryDelay?: unknown } | null)?.retryDelay;
    const seconds = typeof delay === "string" ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}

/** A router (OpenRouter) says little itself; what its own vendor told it says what is wrong. */
function withUpstream(told: string, metadata: unknown): string {
  const raw = (metadata as { raw?: unknown } | undefined | null)?.raw;
  const upstream = typeof raw === "string" && raw !== "" ? readVendorError(raw).message : "";
  return upstream === "" || told.includes(upstream) ? told : `${told}: ${upstream}`;
}

/** The failure of a response whose status says so. */
export function failureOfStatus(status: number, response: HeaderLookup, body: string, context: FailureContext): ModelError {
  const error = readVendorError(body);
  const requestId =
    response.header("request-id") ?? response.header("x-request-id") ?? response.header("apim-request-id") ?? error.requestId;
  const location = response.header("location");
  if (status >= 300 && status < 400) {
    const message = `${context.provider} redirects (HTTP ${status})${location === undefined ? "" : ` to ${location}`}: set baseUrl to where the API is`;
    return new ModelError({ kind: "invalid-request", message, status, ...context });
  }
  const kind = kindOfStatus(status, error);
  const retryAfter = kind === "rate-limit" || kind === "server-error" ? longer(retryAfterMs(response), error.retryAfterMs) : undefined;
  return modelError(kind, error, context, {
    status,
    ...(requestId !== undefined && { requestId }),
    ...(retryAfter !== undefined && { retryAfterMs: retryAfter }),
  });
}

/**
 * The failure that came inside a response of status 200: its own code says what it is. `progress` is `refused` if a vendor gives such an
 * error before it runs the model. The stream believes it only if nothing was decoded before.
 */
export function failureInResponse(error: VendorError, context: FailureContext, requestId: string | undefined): ModelError {
  const known = requestId ?? error.requestId;
  const kind = isOverflow(error) ? "context-overflow" : (kindOfCode(error) ?? "server-error");
  const waits = (kind === "rate-limit" || kind === "server-error") && error.retryAfterMs !== undefined;
  return modelError(kind, error, context, {
    ...((REFUSALS.has(kind) || isOverloaded(kind, error)) && { progress: "refused" as const }),
    ...(known !== undefined && { requestId: known }),
    ...(waits && { retryAfterMs: error.retryAfterMs }),
  });
}

function modelError(
  kind: Kind,
  error: VendorError,
  context: FailureContext,
  facts: { status?: number; requestId?: string; retryAfterMs?: number; progress?: "refused" },
): ModelError {
  const code = error.code ?? error.type;
  const told = error.message === "" ? "no reason was given" : error.message;
  const where = [context.provider, facts.status === undefined ? undefined : `HTTP ${facts.status}`, code]
    .filter((part) => part !== undefined)
    .join(", ");
  const hint = kind === "authentication" ? "; check the API key" : kind === "billing" ? "; check the account's credit" : "";
  return new ModelError({
    kind,
    message: `${told} (${where})${hint}`,
    ...context,
    ...(code !== undefined && { code }),
    ...facts,
  } as ModelFailure);
}

/** The kinds of errors that a vendor gives before it runs the model. */
const REFUSALS: ReadonlySet<Kind> = new Set(["rate-limit", "authentication", "billing", "context-overflow"]);

function isOverloaded(kind: Kind, { code, type, message }: VendorError): boolean {
  return kind === "server-error" && (code === "529" || /overloaded/i.test(`${code} ${type} ${message}`));
}

const TOO_LONG_CODES: ReadonlySet<string> = new Set([
  "context_length_exceeded",
  "exceed_context_size_error",
  "too_many_prompt_tokens",
  "model_max_prompt_tokens_exceeded",
  "string_above_max_length",
  "request_too_large",
]);
const NO_CREDIT = /credit balance|insufficient (?:credit|balance|funds|quota)|billing|payment required/i;
const BAD_KEY = /(?:incorrect|invalid|wrong|missing|no)[^.]{0,20} api.?key|api.?key[^.]{0,40}(?:incorrect|invalid|not valid|missing)/i;
const BLOCKED = /content.?(?:filter|policy|management)|guideline|moderation|safety|ResponsibleAI/i;

function kindOfStatus(status: number, error: VendorError): Kind {
  const words = `${error.code ?? ""} ${error.type ?? ""} ${error.message}`;
  switch (status) {
    case 401:
      return "authentication";
    case 402:
      return "billing";
    case 403:
      return BLOCKED.test(words) ? "content-blocked" : "authentication";
    case 404:
      return "invalid-request";
    case 408:
      return "server-error";
    case 413:
      // Groq refuses a request for its tokens a minute by this status.
      return error.code === "rate_limit_exceeded" ? "rate-limit" : "context-overflow";
    case 429:
      return error.code === "insufficient_quota" || error.type === "insufficient_quota" ? "billing" : "rate-limit";
    default:
  }
  // Servers in front of vLLM and llama.cpp say it by the status 500.
  if (status >= 500) return status === 500 && isOverflow(error) ? "context-overflow" : "server-error";
  if (error.code === "insufficient_quota" || error.type === "billing_error" || NO_CREDIT.test(error.message)) return "billing";
  if (isOverflow(error)) return "context-overflow";
  if (error.code === "invalid_api_key" || error.type === "authentication_error" || BAD_KEY.test(error.message)) return "authentication";
  if (/content_filter|content_policy|ResponsibleAI/i.test(words)) return "content-blocked";
  return "invalid-request";
}

function isOverflow({ code = "", type = "", message }: VendorError): boolean {
  return TOO_LONG_CODES.has(code) || TOO_LONG_CODES.has(type) || saysOverflow(message);
}

function kindOfCode(error: VendorError): Kind | undefined {
  for (const name of [error.code, error.type]) {
    if (name === undefined) continue;
    if (/^[1-5]\d\d$/.test(name)) return kindOfStatus(Number(name), error);
    if (/insufficient_quota|billing/i.test(name)) return "billing";
    if (/rate.?limit|too_many_requests|resource_exhausted/i.test(name)) return "rate-limit";
    if (/authenticat|permission|api_key|unauthorized/i.test(name)) return "authentication";
    if (/overloaded|server_error|api_error|internal|unavailable|timeout|deadline_exceeded/i.test(name)) return "server-error";
    if (/content_filter|content_policy|ResponsibleAI/i.test(name)) return "content-blocked";
    // Groq: the model wrote a call that its server could not read.
    if (name === "tool_use_failed") return "invalid-response";
    if (/invalid|not_found|unsupported|bad_request|failed_precondition|out_of_range/i.test(name)) return "invalid-request";
  }
  return undefined;
}

/**
 * How long the vendor asks to wait: `retry-after` in seconds or as a date (told against the response's own `date`, so that a wrong
 * clock here does no harm), `retry-after-ms`. Azure sends both, 1 s and 0 ms: the larger counts.
 */
export function retryAfterMs(response: HeaderLookup): number | undefined {
  const waits: number[] = [];
  const inMs = response.header("retry-after-ms");
  if (inMs !== undefined && isAmount(inMs)) waits.push(Number(inMs));
  const after = response.header("retry-after");
  if (after !== undefined && isAmount(after)) waits.push(Number(after) * 1000);
  else if (after !== undefined) {
    const now = Date.parse(response.header("date") ?? "");
    const wait = Date.parse(after) - (Number.isNaN(now) ? Date.now() : now);
    if (!Number.isNaN(wait)) waits.push(Math.max(0, wait));
  }
  return waits.length === 0 ? undefined : Math.ceil(Math.max(...waits));
}

function longer(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);
}

function isAmount(text: string): boolean {
  return /^\s*\d+(?:\.\d+)?\s*$/.test(text);
}

function words(value: unknown): string {
  if (typeof value === "string") return PAGE.test(value.slice(0, 1024)) ? plainWords(value) : value;
  return Array.isArray(value) && value.length > 0 ? JSON.stringify(value).slice(0, 2000) : "";
}

function nameOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Longer messages of a body that is not JSON are no help. */
const MAX_PLAIN_LENGTH = 500;
const MAX_TITLE_LENGTH = 120;
const PAGE = /<!doctype\s+html|<html[\s>]|<head[\s>]|<body[\s>]/i;

/** The words of a body that is not JSON. Proxies answer with pages, of which the title is enough. */
export function plainWords(body: string): string {
  const words = oneLine(body.slice(0, 16 * 1024));
  if (!PAGE.test(body)) return words.slice(0, MAX_PLAIN_LENGTH);
  if (words.length <= MAX_TITLE_LENGTH && body.length <= 16 * 1024) return words;
  const titles = ["title", "h1", "h2"].map((tag) => oneLine(new RegExp(`<${tag}[^<>]{0,200}>([^<]{0,1000})`, "i").exec(body)?.[1] ?? ""));
  const title = titles.find((text) => text !== "");
  return title === undefined ? "an HTML page without a title" : `an HTML page: ${JSON.stringify(title.slice(0, MAX_TITLE_LENGTH))}`;
}

function oneLine(text: string): string {
  return text
    .replace(/<(?:script|style)[\s\S]*?<\/(?:script|style)>/gi, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/&amp;/g, "&")
    .replace(/\s+/g, " ")
    .trim();
}

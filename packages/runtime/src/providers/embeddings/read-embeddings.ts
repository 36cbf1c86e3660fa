import { ModelError } from "@keelson/protocol";
import { readTextUpTo, readWholeText, type TransportResponse } from "../../transport/index.ts";
import { failureInResponse, failureOfStatus, MAX_ERROR_BYTES, readVendorError } from "../vendor-failure.ts";
import { type Fields, fieldsOf } from "../wire-decoder.ts";
import type { EmbedContext } from "./embed-batches.ts";

/** Reads a response of one JSON object. @throws ModelError for an error, with whatever status it comes, and for what is none */
export async function readEmbeddings(response: TransportResponse, context: EmbedContext): Promise<Fields> {
  if (response.status < 200 || response.status >= 300)
    throw failureOfStatus(response.status, response, await readTextUpTo(response.body, MAX_ERROR_BYTES), context);
  const text = await readWholeText(response.body, []);
  let body: Fields | undefined;
  try {
    body = fieldsOf(JSON.parse(text));
  } catch (cause) {
    const message = `${context.provider} responded with something that is no JSON: ${text.slice(0, 120)}`;
    throw new ModelError({ kind: "invalid-response", message, ...context }, { cause });
  }
  if (body !== undefined && body["error"] !== undefined && body["error"] !== null)
    throw failureInResponse(readVendorError(body), context, response.header("request-id") ?? response.header("x-request-id"));
  return body ?? {};
}

/** Lists of numbers, as they are, or base64 of little-endian floats, which some servers send unasked. */
export function vectorOf(value: unknown): readonly number[] {
  if (Array.isArray(value)) return value as readonly number[];
  if (typeof value !== "string") return [];
  const bytes = Buffer.from(value, "base64");
  const vector: number[] = [];
  for (let at = 0; at + 4 <= bytes.length; at += 4) vector.push(bytes.readFloatLE(at));
  return vector;
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map((entry) => fieldsOf(entry) ?? {}) : [];
}

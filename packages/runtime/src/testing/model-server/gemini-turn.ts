import type { JsonObject } from "@keelson/protocol";
import { serverSignature } from "./server-signature.ts";
import {
  argumentObject,
  argumentsOf,
  callIdOf,
  countsOf,
  type EncodedTurn,
  pieces,
  type ServerError,
  type ServerEvent,
  type ServerRequest,
  type ServerTurn,
  type ServerWire,
} from "./server-turn.ts";

export const GEMINI_WIRE: ServerWire = {
  encode: encodeGeminiTurn,
  error: geminiError,
  streamError: (error) => ({ name: "", data: JSON.stringify(geminiError(error, 500)) }),
  ping: { name: "", data: `{"candidates":[]}` },
};

/** Google's words for what HTTP numbers. */
const STATUS_WORDS: { readonly [status: number]: string } = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

/** A turn in the words of `generateContent` and `streamGenerateContent`. */
function encodeGeminiTurn(turn: ServerTurn, request: ServerRequest): EncodedTurn {
  const signs = turn.thinking !== undefined || /gemini-[3-9]/.test(request.model);
  const signature = signs ? { thoughtSignature: serverSignature(request) } : {};
  const broken = (turn.toolCalls ?? []).find((call) => argumentObject(call) === undefined);
  const calls = broken === undefined ? callParts(turn, request, signature) : [];
  const texts: readonly JsonObject[] = pieces(turn).map((text) => ({ text }));
  const thoughts: readonly JsonObject[] = turn.thinking === undefined ? [] : [{ text: turn.thinking, thought: true }];
  // A turn without calls is signed at its end, in a part of its own when it is streamed.
  const end: readonly JsonObject[] = calls.length === 0 && texts.length > 0 && signs ? [{ text: "", ...signature }] : [];

  const facts = {
    modelVersion: request.model,
    responseId: `response-${request.index}`,
    ...(turn.usage !== null && { usageMetadata: usageOf(turn, request) }),
  };
  const finish: JsonObject = {
    finishReason: turn.stopReason ?? (turn.refusal !== undefined ? "SAFETY" : broken !== undefined ? "MALFORMED_FUNCTION_CALL" : "STOP"),
    ...(turn.refusal !== undefined && { finishMessage: turn.refusal }),
    ...(broken !== undefined && { finishMessage: `Malformed function call: ${broken.name}${argumentsOf(broken)}` }),
  };
  const response = (parts: readonly JsonObject[], more: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { role: "model", ...(parts.length > 0 && { parts }) }, ...more, index: 0 }],
    ...facts,
  });

  const events: ServerEvent[] = [
    ...thoughts.map((part) => ({ name: "", data: JSON.stringify(response([part])) })),
    ...texts.map((part) => ({ name: "", data: JSON.stringify(response([part])), role: "text" as const })),
    ...calls.map((part) => ({ name: "", data: JSON.stringify(response([part])) })),
    { name: "", data: JSON.stringify(response(end, finish)), role: "end" },
  ];
  const joined: readonly JsonObject[] = texts.length === 0 ? [] : [{ text: pieces(turn).join(""), ...(calls.length === 0 && signature) }];
  return { events, whole: response([...thoughts, ...joined, ...calls], finish) };
}

/** The first call of a turn carries its signature. Only newer models number their calls. */
function callParts(turn: ServerTurn, request: ServerRequest, signature: JsonObject): readonly JsonObject[] {
  const numbered = /gemini-[3-9]/.test(request.model);
  return (turn.toolCalls ?? []).map((call, at) => ({
    functionCall: {
      ...((numbered || call.id !== undefined) && { id: callIdOf(call, request, at) }),
      name: call.name,
      args: argumentObject(call) ?? {},
    },
    ...(at === 0 && signature),
  }));
}

function usageOf(turn: ServerTurn, request: ServerRequest): JsonObject {
  const counts = countsOf(turn, request);
  return {
    promptTokenCount: counts.inputTokens,
    candidatesTokenCount: counts.outputTokens - counts.reasoningTokens,
    totalTokenCount: counts.inputTokens + counts.outputTokens,
    ...(counts.reasoningTokens > 0 && { thoughtsTokenCount: counts.reasoningTokens }),
    ...(counts.cacheReadTokens > 0 && { cachedContentTokenCount: counts.cacheReadTokens }),
  };
}

function geminiError(error: ServerError, status: number): JsonObject {
  return { error: { code: status, message: error.message, status: error.type ?? error.code ?? STATUS_WORDS[status] ?? "UNKNOWN" } };
}

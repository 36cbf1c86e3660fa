import type { InferResponse, JsonObject, JsonValue, Message, Provider } from "@keelson/protocol";
import { infer } from "keelson/providers";
import type { ValidatedWire } from "keelson/testing";
import type { Recording, SentRequest } from "./recordings.ts";
import { replay } from "./recordings.ts";

/** What one assistant turn of a request holds, in whatever form its wire has it. */
export interface TurnBlocks {
  text: string;
  readonly calls: { readonly id: string; readonly name: string; readonly input: JsonValue }[];
  /** Reasoning as text, joined. */
  reasoning: string;
  /** Signatures and encrypted reasoning, in order. */
  readonly sealed: string[];
}

/** What a wire must tell for its linked steps to be tested. */
export interface LinkedWire {
  readonly wire: ValidatedWire;
  provider(recording: Recording, fetch: ReturnType<typeof replay>): Provider;
  /** The conversation in a request. */
  entries(body: JsonObject): readonly JsonObject[];
  isAssistant(entry: JsonObject): boolean;
  /** Adds what one entry of the assistant holds. */
  read(entry: JsonObject, blocks: TurnBlocks): void;
}

export interface LinkedStep {
  readonly id: string;
  readonly before: Recording;
  readonly next: Recording;
}

/** The steps of a wire whose previous step is recorded too and was answered. */
export function linkedSteps(all: readonly Recording[]): readonly LinkedStep[] {
  const byPlace = new Map(all.map((recording) => [`${recording.conversation} ${recording.step}`, recording]));
  return all.flatMap((next) => {
    const before = byPlace.get(`${next.conversation} ${next.step - 1}`);
    const usable =
      next.linked_to_previous && before?.request.body != null && next.request.body !== null && before.expect.error === undefined;
    return usable && before !== undefined ? [{ id: next.id, before, next }] : [];
  });
}

/** The turn of the assistant that the recorded client put after what it had sent before. */
export function recordedTurn(wire: LinkedWire, { before, next }: LinkedStep): TurnBlocks {
  const known = wire.entries(before.request.body as JsonObject).length;
  return turnFrom(wire, wire.entries(next.request.body as JsonObject).slice(known));
}

/** The turn that we would send back: the response decoded, put after a question, and encoded again for the same model. */
export async function ownTurn(
  wire: LinkedWire,
  { before }: LinkedStep,
): Promise<{ readonly blocks: TurnBlocks; readonly body: JsonObject }> {
  const sent: SentRequest[] = [];
  const provider = wire.provider(before, replay(before, [Buffer.from(before.response.body)], sent));
  const model = String(before.request.body?.["model"] ?? before.expect.model ?? "a-model");
  const question: Message = { role: "user", content: [{ type: "text", text: "?" }] };
  const response: InferResponse = await infer(provider, { model, messages: [question] });
  await infer(provider, { model, messages: [question, { role: "assistant", content: response.content }, question] });
  const body = sent[1]?.body as JsonObject;
  const entries = wire.entries(body);
  return { blocks: turnFrom(wire, entries.slice(entries.findIndex((entry) => wire.isAssistant(entry)))), body };
}

function turnFrom(wire: LinkedWire, entries: readonly JsonObject[]): TurnBlocks {
  const blocks: TurnBlocks = { text: "", calls: [], reasoning: "", sealed: [] };
  for (const entry of entries) {
    if (!wire.isAssistant(entry)) break;
    wire.read(entry, blocks);
  }
  return blocks;
}

/** JSON text as its value; text that is no JSON as itself. */
export function parsedInput(text: JsonValue | undefined): JsonValue {
  if (typeof text !== "string") return text ?? {};
  try {
    return (JSON.parse(text === "" ? "{}" : text) as JsonValue) ?? {};
  } catch {
    return text;
  }
}

import type { InferEvent, InferRequest, JsonValue, Message, Provider } from "@keelson/protocol";
import { canonicalJson } from "../../json/canonical-json.ts";
import { digestOf } from "../../json/digest.ts";

/** What a model responded to a request, the first time that it was asked. */
interface Recording {
  readonly events: readonly InferEvent[];
  /** Its text and calls, to be known again by. */
  readonly said: string;
  /** What it failed with in the end. */
  readonly failure?: unknown;
}

/** Recordings of one conversation, in order. */
interface Thread {
  readonly recordings: Recording[];
}

/** The models of the agents of one run. */
export interface PlayedModels {
  provider(provider: Provider): Provider;
}

/** The responses of the undisturbed run. */
export interface RecordedModels {
  /** Asks the models, and keeps what they respond. */
  record(): PlayedModels;
  /**
   * Responds what was responded to the same request. To one that differs, since a fault left its trace in the conversation, it
   * responds what came next in the undisturbed run after as much of it as this conversation holds, or its last word again. Where there was
   * nothing like it, the model is asked.
   */
  play(): PlayedModels;
}

/** Has the models of an agent respond alike in all runs, whatever they are: a script, a vendor who asks for money, chance. */
export function createRecordedModels(): RecordedModels {
  const exact = new Map<string, Recording[]>();
  const threads = new Map<string, Thread>();

  function keep(provider: Provider, request: InferRequest, recording: Recording): void {
    const key = exactKey(provider, request);
    exact.set(key, [...(exact.get(key) ?? []), recording]);
    const name = threadKey(provider, request);
    const thread = threads.get(name) ?? { recordings: [] };
    threads.set(name, thread);
    if (recording.failure === undefined) thread.recordings.push(recording);
  }

  return {
    record: () => ({
      provider: (provider) =>
        playing(provider, async function* (request, options) {
          const asked = { ...request, messages: [...request.messages] };
          const events: InferEvent[] = [];
          try {
            for await (const event of provider.stream(request, options)) {
              events.push(event);
              yield event;
            }
          } catch (failure) {
            keep(provider, asked, { events, said: saidBy(events), failure });
            throw failure;
          }
          keep(provider, asked, { events, said: saidBy(events) });
        }),
    }),

    play() {
      const asked = new Map<string, number>();
      /** How far each conversation got: what was compacted since shows less of it. */
      const reached = new Map<Thread, number>();
      const last = new Map<string, Thread>();
      const find = (provider: Provider, request: InferRequest): Recording | undefined => {
        // One that was summarised begins otherwise: it goes on where the last one of this model was.
        const thread = threads.get(threadKey(provider, request)) ?? last.get(provider.name);
        if (thread === undefined) return undefined;
        const held = Math.max(heldOf(thread, request.messages), reached.get(thread) ?? 0);
        reached.set(thread, held);
        last.set(provider.name, thread);
        const key = exactKey(provider, request);
        const same = exact.get(key);
        if (same === undefined) return thread.recordings[Math.min(held, thread.recordings.length - 1)];
        const count = asked.get(key) ?? 0;
        asked.set(key, count + 1);
        return same[Math.min(count, same.length - 1)];
      };
      return {
        provider: (provider) =>
          playing(provider, (request, options) => {
            const recording = find(provider, request);
            return recording === undefined ? provider.stream(request, options) : replayed(recording);
          }),
      };
    },
  };
}

async function* replayed({ events, failure }: Recording): AsyncGenerator<InferEvent> {
  yield* events;
  if (failure !== undefined) throw failure;
}

function playing(provider: Provider, stream: Provider["stream"]): Provider {
  return Object.assign(Object.create(provider) as Provider, { stream });
}

function exactKey(provider: Provider, { model, system = "", messages, output }: InferRequest): string {
  return digestOf([provider.name, model, system, messages, output ?? null] as unknown as JsonValue);
}

function threadKey(provider: Provider, { model, system = "", messages }: InferRequest): string {
  return digestOf([provider.name, model, system, messages[0] ?? null] as unknown as JsonValue);
}

/** Up to which response of a thread this conversation goes: the first of them may have been left out of it since. */
function heldOf({ recordings }: Thread, messages: readonly Message[]): number {
  let held = 0;
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    const said = saidIn(message);
    const next = recordings.findIndex((recording, index) => index >= held && recording.said === said);
    if (next >= 0) held = next + 1;
  }
  return held;
}

function saidIn({ content }: Message): string {
  const text = content.map((part) => (part.type === "text" ? part.text : "")).join("");
  const calls = content.flatMap((part) =>
    part.type === "tool-call" ? [`${part.name} ${canonicalJson(part.input ?? part.inputText)}`] : [],
  );
  return [text, ...calls].join("\n");
}

function saidBy(events: readonly InferEvent[]): string {
  let text = "";
  const calls = new Map<number, { readonly name: string; input: string }>();
  for (const event of events) {
    if (event.type === "text-delta") text += event.text;
    if (event.type === "tool-call-start") calls.set(event.index, { name: event.name, input: "" });
    if (event.type === "tool-call-delta") (calls.get(event.index) ?? { input: "" }).input += event.text;
  }
  return [text, ...[...calls.values()].map(({ name, input }) => `${name} ${canonicalJson(parsed(input))}`)].join("\n");
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // The model wrote what is no JSON: compared as it stands.
    return text;
  }
}

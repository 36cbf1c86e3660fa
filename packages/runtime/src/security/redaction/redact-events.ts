import type { AgentEvent } from "@keelson/protocol";
import type { Redactor, TextRedaction } from "./redactor.ts";

type Delta = Extract<AgentEvent, { readonly type: "text-delta" | "thinking-delta" | "tool-call-delta" }>;

/** A text that is on its way, with the last piece of it that was not passed on yet. */
interface OpenText {
  readonly redaction: TextRedaction;
  delta: Delta;
  shown: string;
}

const ENDS: { readonly [type: string]: Delta["type"] } = {
  "text-end": "text-delta",
  "thinking-end": "thinking-delta",
  "tool-call-end": "tool-call-delta",
};

/**
 * What watchers may see of a run: the same events in the same order, redacted. A text that streams stays one piece behind, or as far as a
 * secret may reach. The log keeps what it kept.
 */
export async function* redactEvents(events: AsyncIterable<AgentEvent>, redactor: Redactor): AsyncGenerator<AgentEvent> {
  const texts = new Map<string, OpenText>();
  for await (const event of events) {
    if (isDelta(event)) {
      const name = nameOf(event.type, event);
      const open = texts.get(name);
      if (open?.delta.attempt === event.attempt) {
        yield { ...open.delta, text: open.shown };
        open.delta = event;
        open.shown = open.redaction.push(event.text);
        continue;
      }
      // The text of an attempt that failed is over.
      yield* finish(texts, [name]);
      const redaction = redactor.stream();
      texts.set(name, { redaction, delta: event, shown: redaction.push(event.text) });
      continue;
    }
    const ended = ENDS[event.type];
    if (ended !== undefined) yield* finish(texts, [nameOf(ended, event)]);
    // What stands in the log ends whatever its run was saying.
    else if ("seq" in event)
      yield* finish(
        texts,
        [...texts.keys()].filter((name) => name.startsWith(`${event.runId} `)),
      );
    yield redactor.redactJson(event);
  }
  yield* finish(texts, [...texts.keys()]);
}

function isDelta(event: AgentEvent): event is Delta {
  return event.type === "text-delta" || event.type === "thinking-delta" || event.type === "tool-call-delta";
}

function nameOf(type: Delta["type"], event: AgentEvent): string {
  return `${event.runId} ${type} ${"callId" in event ? event.callId : ""}`;
}

function* finish(texts: Map<string, OpenText>, names: readonly string[]): Generator<AgentEvent> {
  for (const name of names) {
    const open = texts.get(name);
    if (open === undefined) continue;
    texts.delete(name);
    yield { ...open.delta, text: open.shown + open.redaction.end() };
  }
}

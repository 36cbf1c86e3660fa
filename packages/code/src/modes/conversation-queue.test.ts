import { setImmediate as settle } from "node:timers/promises";
import type { AgentEvent, RunId } from "@keelson/protocol";
import type { Run, RunInput, RunOutcome } from "keelson";
import { describe, expect, it } from "vitest";
import { createSlashCommandTable } from "../slash-commands/slash-command-table.ts";
import { createPlainScreen } from "../terminal/plain-screen.ts";
import { createStyle } from "../text/style.ts";
import { createConversation, type Conversation } from "./conversation.ts";
import { createMessageQueue } from "./message-queue.ts";

const PLACE = { runId: "r1" as RunId, seq: 1, at: 0 };
const EVENTS: { readonly [Type in "turn-start" | "tool-calls-start"]: AgentEvent } = {
  "turn-start": { ...PLACE, type: "turn-start", turn: 1, model: "a/one" },
  "tool-calls-start": { ...PLACE, type: "tool-calls-start", calls: [] },
};

interface Setting {
  readonly conversation: Conversation;
  readonly started: string[];
  readonly steered: unknown[];
  readonly returned: string[];
  readonly shown: () => string;
  emit(type: keyof typeof EVENTS): Promise<void>;
  end(): Promise<void>;
}

/** A conversation whose runs are the same one, of which the test says what happens. */
function setUp(outgoing: (text: string) => Promise<RunInput> = async (text) => text): Setting {
  let shown = "";
  const out = { write: (text: string) => void (shown += text) };
  const started: string[] = [];
  const steered: unknown[] = [];
  const returned: string[] = [];
  let wake = Promise.withResolvers<AgentEvent | undefined>();
  let ended = Promise.withResolvers<RunOutcome>();
  const told = async (event: AgentEvent | undefined): Promise<void> => {
    const { resolve } = wake;
    wake = Promise.withResolvers();
    resolve(event);
    await settle();
  };
  async function* events(): AsyncIterable<AgentEvent> {
    for (let event = await wake.promise; event !== undefined; event = await wake.promise) yield event;
  }
  async function* nothing(): AsyncIterable<never> {}
  const run = {
    id: "r1",
    session: "s1",
    get outcome() {
      return ended.promise;
    },
    interrupt: async () => {},
    steer: async (message: unknown) => void steered.push(message),
    approvals: nothing,
    events,
    [Symbol.asyncIterator]: () => events()[Symbol.asyncIterator](),
  } as unknown as Run;
  const queue = createMessageQueue({ style: createStyle(false), onChange() {}, deliver: (text) => conversation.deliver(text) });
  const conversation: Conversation = createConversation({
    screen: createPlainScreen(out, out),
    style: createStyle(false),
    model: "a/one",
    host: {
      async start(text) {
        started.push(text);
        ended = Promise.withResolvers();
        return run;
      },
      resume: async () => run,
      allowInProject: async () => {},
      command: "keelson",
      now: () => 0,
      giveUp() {},
    },
    commands: createSlashCommandTable([]),
    input: { message() {}, question() {}, answer() {}, clear: () => false },
    quit() {},
    ...{ queue, outgoing, giveBack: (texts: readonly string[]) => void returned.push(...texts) },
  });
  return {
    ...{ conversation, started, steered, returned, shown: () => shown },
    emit: (type) => told(EVENTS[type]),
    async end() {
      ended.resolve({ reason: "complete" } as RunOutcome);
      await told(undefined);
      await settle();
    },
  };
}

describe("the messages of a conversation that wait", () => {
  it("steer the run when the calls of its response begin, with their images", async () => {
    const { conversation, emit, steered, shown } = setUp(async (text) => [{ type: "text", text }]);
    conversation.message("go");
    await settle();
    conversation.message("use pnpm");
    await emit("turn-start");
    expect([steered, shown()]).toEqual([[], expect.not.stringContaining("use pnpm")]);
    await emit("tool-calls-start");
    await settle();
    expect(shown()).toContain("› use pnpm");
    expect(steered).toEqual([{ role: "user", content: [{ type: "text", text: "use pnpm" }] }]);
  });

  it("start the next run if the run ends before it can read them", async () => {
    const { conversation, emit, end, started, returned } = setUp();
    conversation.message("go");
    await settle();
    await emit("turn-start");
    conversation.message("one");
    conversation.message("two");
    await end();
    expect([started, returned]).toEqual([["go", "one\n\ntwo"], []]);
  });

  it("return to the input if the person stopped the run", async () => {
    const { conversation, emit, end, started, returned, shown } = setUp();
    conversation.message("go");
    await settle();
    await emit("turn-start");
    conversation.message("one");
    conversation.escape();
    await end();
    expect([started, returned, shown()]).toEqual([["go"], ["one"], expect.not.stringContaining("› one")]);
  });
});

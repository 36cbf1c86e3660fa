import { setImmediate as settle } from "node:timers/promises";
import { AgentError, type AgentEvent, type ApprovalRequest, type Decision, UNKNOWN_USAGE } from "@keelson/protocol";
import type { PendingApproval, Run, RunOutcome } from "keelson";
import { describe, expect, it, vi } from "vitest";
import { createPlainScreen } from "../terminal/plain-screen.ts";
import { createStyle } from "../text/style.ts";
import type { RunTerms } from "../core/run-terms.ts";
import { helpCommand, quitCommand, whyCommand } from "../slash-commands/prompt-commands.ts";
import { sessionCommands } from "../slash-commands/session-commands.ts";
import { termCommands } from "../slash-commands/term-commands.ts";
import type { SlashCommand } from "../slash-commands/slash-command.ts";
import { createSlashCommandTable } from "../slash-commands/slash-command-table.ts";
import { type Conversation, type ConversationOptions, createConversation } from "./conversation.ts";

/** A run whose events and questions the test pushes, and which notes what is done to it. */
function createFakeRun(): {
  readonly run: Run;
  readonly did: string[];
  emit(event: object): void;
  question(asked: Partial<ApprovalRequest>): void;
  /** The next decision is refused with this. */
  refuseOnce(error: Error): void;
  unannounced(asked: Partial<ApprovalRequest>): void;
  end(outcome: Partial<RunOutcome>): void;
} {
  const did: string[] = [];
  let refusal: Error | undefined;
  const events = createQueue<AgentEvent>();
  const questions = createQueue<PendingApproval>();
  const { promise: outcome, resolve } = Promise.withResolvers<RunOutcome>();
  const run = {
    id: "r1",
    session: "s1",
    outcome,
    stop: async () => void did.push("stop"),
    interrupt: async () => void did.push("interrupt"),
    abort: async () => void did.push("abort"),
    setModel: async (model: string) => void did.push(`model ${model}`),
    setPermissionMode: async (mode: string) => void did.push(`mode ${mode}`),
    setEffort: async (level: string | null) => void did.push(`effort ${level}`),
    steer: async (given: unknown) => void did.push(`steer ${typeof given === "string" ? given : JSON.stringify(given)}`),
    approvals: () => questions.iterable,
    events: () => events.iterable,
    [Symbol.asyncIterator]: () => events.iterable[Symbol.asyncIterator](),
  } as unknown as Run;
  return {
    run,
    did,
    emit: (event) => events.push(event as AgentEvent),
    unannounced(asked) {
      questions.push({ request: requestOf(asked), decide: async () => {} } as PendingApproval);
    },
    refuseOnce: (error) => void (refusal = error),
    question(asked) {
      const request = requestOf(asked);
      const decide = async (decision: Decision): Promise<void> => {
        const error = refusal;
        refusal = undefined;
        if (error !== undefined) throw error;
        did.push(JSON.stringify(decision));
      };
      questions.push({ request, decide });
      events.push({
        ...request,
        type: "approval-request",
        question: request.type,
        nonce: request.token,
        runId: "r1",
        seq: 1,
        at: 0,
      } as unknown as AgentEvent);
    },
    end(partial) {
      resolve({ reason: "complete", text: "", turns: 1, cost: null, effects: [], ...partial } as RunOutcome);
      events.close();
      questions.close();
    },
  };
}

function requestOf(asked: Partial<ApprovalRequest>): ApprovalRequest {
  return {
    type: "approval",
    callId: "c1",
    token: "t1",
    risk: "high",
    reason: "it asks",
    operation: "bash",
    input: { command: "ls" },
    ...asked,
  } as ApprovalRequest;
}

function createQueue<T>(): { readonly iterable: AsyncIterable<T>; push(value: T): void; close(): void } {
  const values: T[] = [];
  let closed = false;
  let wake = Promise.withResolvers<void>();
  const tell = (): void => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  return {
    iterable: (async function* () {
      for (;;) {
        while (values.length > 0) yield values.shift() as T;
        if (closed) return;
        await wake.promise;
      }
    })(),
    push: (value) => void (values.push(value), tell()),
    close: () => void ((closed = true), tell()),
  };
}

interface Setting {
  readonly conversation: Conversation;
  readonly kept: string[];
  readonly missed: string[];
  /** Types of the events that were seen. */
  readonly seen: string[];
  readonly terms: () => RunTerms;
  readonly fake: ReturnType<typeof createFakeRun>;
  readonly started: string[];
  /** The runs that are resumed next. */
  readonly resumed: Run[];
  readonly prompts: string[];
  readonly filled: string[];
  readonly shown: () => string;
  readonly quits: () => number;
}

function setUp(
  refuse?: () => never,
  more: readonly SlashCommand[] = [],
  options: Pick<ConversationOptions, "queue" | "outgoing" | "giveBack"> = {},
): Setting {
  const fake = createFakeRun();
  const started: string[] = [];
  const resumed: Run[] = [];
  const prompts: string[] = [];
  const filled: string[] = [];
  const kept: string[] = [];
  const missed: string[] = [];
  const seen: string[] = [];
  let shown = "";
  let quits = 0;
  const out = { write: (text: string) => void (shown += text) };
  let terms: RunTerms = { model: "a/one", mode: "default", effort: undefined };
  const conversation = createConversation({
    screen: createPlainScreen(out, out),
    style: createStyle(false),
    session: () => ({
      get terms() {
        return terms;
      },
      effortsOf: () => ["low", "high"],
      compactAt: () => 0.4,
      change: (changed) => void (terms = { ...terms, ...changed }),
      async start(content) {
        refuse?.();
        started.push(`${terms.model}: ${typeof content === "string" ? content : JSON.stringify(content)}`);
        return fake.run;
      },
      resume: async () => resumed.shift() as Run,
      allowInProject: async (rules) => void kept.push(...rules),
    }),
    command: "keelson",
    now: () => 0,
    giveUp: () => void fake.did.push("give up"),
    onEvent: (event) => void seen.push(event.type),
    ...options,
    commands: createSlashCommandTable([
      helpCommand({ keys: [{ key: "Enter", does: "sends; steers it" }], shownFile: (file) => file }),
      ...termCommands({ model: () => terms.model, known: () => [], listed: async () => [], effortsOf: () => ["low", "high"] }),
      ...sessionCommands({
        facts: async (topic) => [`facts about ${topic}`],
        trustLeftOut: async () => ["trusted"],
        compact: async (keep) => [`compact ${keep}`],
      }),
      whyCommand,
      ...more,
      quitCommand,
    ]),
    input: {
      message: (text) => void prompts.push(text),
      question(text, line) {
        prompts.push(text);
        if (line !== undefined) missed.push(line);
      },
      answer: (text, line) => void (prompts.push(text), filled.push(line)),
      clear: () => false,
    },
    quit: () => void (quits += 1),
  });
  return {
    conversation,
    fake,
    started,
    resumed,
    prompts,
    filled,
    kept,
    missed,
    seen,
    terms: () => terms,
    shown: () => shown,
    quits: () => quits,
  };
}

describe("createConversation", () => {
  it("starts a run with a line, steers it with the next, and starts another when it is over", async () => {
    const { conversation, fake, started } = setUp();
    conversation.message("fix the build");
    conversation.message("use npm");
    fake.end({});
    await conversation.settled();
    expect([started, fake.did]).toEqual([["a/one: fix the build"], ["steer use npm"]]);
    conversation.message("and the docs");
    expect(started).toEqual(["a/one: fix the build", "a/one: and the docs"]);
  });

  it("shows a message to the run under way once, and one from elsewhere when the run reads it", async () => {
    const { conversation, fake, shown } = setUp();
    const read = (text: string) => ({
      type: "steer",
      runId: "r1",
      seq: 1,
      at: 0,
      message: { role: "user", content: [{ type: "text", text }] },
    });
    conversation.message("fix the build");
    conversation.message("use npm");
    await settle();
    fake.emit(read("use npm"));
    fake.emit(read("from elsewhere"));
    fake.end({});
    await conversation.settled();
    expect(shown().match(/use npm/g)).toHaveLength(1);
    expect(shown()).toContain("↳ from elsewhere");
  });

  it("keeps what is said once the end of a run was shown for the next run, which the ended one would drop", async () => {
    const { conversation, fake, started, shown } = setUp();
    conversation.message("fix the build");
    fake.emit({
      type: "run-complete",
      runId: "r1",
      seq: 1,
      at: 0,
      reason: "complete",
      text: "",
      turns: 1,
      cost: null,
      usage: UNKNOWN_USAGE,
    });
    await settle();
    expect(shown()).toContain("✔ complete");
    conversation.message("and the docs");
    await settle();
    expect([started, fake.did]).toEqual([["a/one: fix the build"], []]);
    fake.end({});
    await conversation.settled();
    expect([started, fake.did]).toEqual([["a/one: fix the build", "a/one: and the docs"], []]);
  });

  it("does nothing for an empty line", () => {
    const { conversation, started } = setUp();
    conversation.message("  ");
    expect(started).toEqual([]);
  });

  it("asks what the run asks, and takes the next line as the answer", async () => {
    const { conversation, fake, prompts } = setUp();
    conversation.message("go");
    fake.question({});
    await settle();
    expect(prompts.at(-1)).toMatch(/\[y\]es/);
    conversation.answer("perhaps");
    expect(fake.did).toEqual([]);
    conversation.answer("n");
    expect(fake.did).toEqual(['{"type":"deny"}']);
    expect(prompts.at(-1)).toBe("› ");
  });

  it("takes the reason of a refusal from a line of its own, which an empty one takes back", async () => {
    const { conversation, fake, prompts } = setUp();
    conversation.message("go");
    fake.question({});
    await settle();
    conversation.answer("w");
    expect(prompts.at(-1)).toBe("why not › ");
    conversation.answer("");
    expect(prompts.at(-1)).toMatch(/\[y\]es/);
    conversation.answer("why");
    conversation.answer("yes, but not that one");
    expect(fake.did).toEqual(['{"type":"deny","reason":"yes, but not that one"}']);
  });

  it("shows the whole reason of a question on /why, while it is open and later", async () => {
    const { conversation, fake, shown, prompts } = setUp();
    conversation.message("/why");
    await settle();
    expect(shown()).toContain("nothing was asked yet");
    conversation.message("go");
    fake.question({ summary: "`ls` is not allowed yet", reason: "In permission mode default, bash asks first (effect write, risk high)." });
    await settle();
    expect(shown()).toContain("? `ls` is not allowed yet");
    expect(shown()).not.toMatch(/risk|effect|permission mode/);
    conversation.answer("/why");
    expect(shown()).toMatch(/bash, high risk: In permission mode default, bash asks first/);
    expect(prompts.at(-1)).toMatch(/\[y\]es/);
    conversation.answer("y");
    expect(fake.did).toEqual(['{"type":"allow"}']);
    conversation.message("/why");
    await settle();
    expect(shown().match(/high risk/g)).toHaveLength(2);
  });

  it("keeps a line that is no answer for the next message", async () => {
    const { conversation, fake, missed } = setUp();
    conversation.message("go");
    fake.question({});
    await settle();
    conversation.answer("a better idea: use pnpm instead");
    expect([fake.did, missed]).toEqual([[], ["a better idea: use pnpm instead"]]);
  });

  it("lets the arguments be edited, again when they are no JSON, or not at all", async () => {
    const { conversation, fake, filled, prompts, shown } = setUp();
    conversation.message("go");
    fake.question({});
    await settle();
    conversation.answer("e");
    expect([prompts.at(-1), filled.at(-1)]).toEqual(["arguments as JSON › ", '{"command":"ls"}']);
    conversation.answer("{command: ls}");
    expect([fake.did, filled.at(-1)]).toEqual([[], "{command: ls}"]);
    expect(shown()).toMatch(/JSON/);
    conversation.answer("");
    expect(prompts.at(-1)).toMatch(/\[y\]es/);
    conversation.answer("e");
    conversation.answer('{"command":"ls -l"}');
    expect(fake.did).toEqual(['{"type":"allow-modified","input":{"command":"ls -l"}}']);
  });

  it("asks a person whose budget is met for another amount, again if it is none, or not at all", async () => {
    const { conversation, fake, prompts, shown } = setUp();
    conversation.message("go");
    const summary = "The run has used $0.9 of its limit of $1, and the rest does not cover what comes next. Allow $1 more?";
    const budget = { unit: "cost", limit: "1", used: "0.9" } as unknown as NonNullable<ApprovalRequest["budget"]>;
    fake.question({ operation: "budget", input: { usd: "1" }, summary, budget });
    await settle();
    expect(shown()).toContain(summary.slice(0, 40));
    expect(shown()).not.toContain('"usd"');
    conversation.answer("other");
    expect(prompts.at(-1)).toBe("dollars to add › ");
    conversation.answer("plenty");
    expect(shown()).toContain("write an amount of dollars above 0");
    conversation.answer("");
    expect(prompts.at(-1)).toContain("an[o]ther amount");
    conversation.answer("o");
    conversation.answer("$2.50");
    expect(fake.did).toEqual(['{"type":"allow-modified","input":{"usd":"2.50"}}']);
  });

  it("shows what a tool asks while it runs with who asks, and has the form filled in field by field", async () => {
    const { conversation, fake, filled, prompts, shown } = setUp();
    conversation.message("go");
    const schema = {
      type: "object",
      properties: { hour: { type: "integer" }, outside: { type: "boolean", default: true } },
      required: ["hour"],
    };
    fake.question({ type: "decision", operation: "book", asked: { message: "When?\u001b[2J", from: "the restaurant", schema } });
    await settle();
    expect(shown()).toMatch(/\? book[\s\S]*the restaurant asks:\n {4}When\?/);
    expect(shown()).not.toContain("\u001b[2J");
    conversation.answer("a");
    expect(prompts.at(-1)).toBe("hour (integer) › ");
    conversation.answer("eight");
    expect(shown()).toContain("answer with a whole number");
    conversation.answer("8");
    expect([prompts.at(-1), filled.at(-1)]).toEqual(["outside (yes/no, may be left empty) › ", "yes"]);
    conversation.answer("no");
    expect(fake.did).toEqual(['{"type":"supply","output":{"hour":8,"outside":false}}']);
  });

  it("takes a yes where a tool asks for no more, a no with its reason, and JSON where a form can't hold the answer", async () => {
    const ask = async (asked: object, ...lines: readonly string[]): Promise<readonly string[]> => {
      const { conversation, fake } = setUp();
      conversation.message("go");
      fake.question({ type: "decision", operation: "book", asked: { message: "Sure?", ...asked } });
      await settle();
      for (const line of lines) conversation.answer(line);
      return fake.did;
    };
    expect(await ask({}, "y")).toEqual(['{"type":"allow"}']);
    expect(await ask({}, "a", "n")).toEqual(['{"type":"deny"}']);
    expect(await ask({}, "w", "too late")).toEqual(['{"type":"deny","reason":"too late"}']);
    expect(await ask({ schema: { type: "array" } }, "a", "[1", "[1]")).toEqual(['{"type":"supply","output":[1]}']);
    expect(await ask({ schema: { type: "array" } }, "a", "[1917043659912705296]")).toEqual([
      '{"type":"supply","output":["1917043659912705296"]}',
    ]);
    expect(await ask({ schema: { type: "integer" } }, "b")).toEqual(['{"type":"abort"}']);
  });

  it("asks one question of a call after another, and drops those that nobody answered when the call is over", async () => {
    const { conversation, fake, prompts, shown } = setUp();
    conversation.message("go");
    for (const token of ["t1", "t2", "t3"]) fake.question({ type: "decision", token, asked: { message: `What of ${token}?` } });
    await settle();
    conversation.answer("y");
    await settle();
    expect(shown()).toContain("What of t2?");
    fake.emit({ type: "approval-decision", runId: "r1", seq: 1, at: 0, callId: "c1", nonce: "t1", decision: { type: "allow" } });
    fake.emit({ type: "approval-decision", runId: "r1", seq: 1, at: 0, callId: "c1", nonce: "t2", decision: { type: "allow" } });
    await settle();
    expect(shown()).toContain("What of t3?");
    fake.emit({ type: "tool-result", runId: "r1", seq: 1, at: 0, callId: "c1", name: "book", output: "ok", isError: false, durationMs: 1 });
    await settle();
    expect(prompts.at(-1)).not.toContain("[y]es");
  });

  it("asks one question after another, and drops one that was decided elsewhere", async () => {
    const { conversation, fake, prompts } = setUp();
    conversation.message("go");
    fake.question({});
    fake.question({ callId: "c2" as ApprovalRequest["callId"], token: "t2", type: "decision" });
    await settle();
    fake.emit({ type: "approval-decision", runId: "r1", seq: 1, at: 0, callId: "c1", decision: { type: "allow" } });
    await settle();
    expect(prompts.at(-1)).toMatch(/\[r\]etry/);
    conversation.answer("r");
    expect(fake.did).toEqual(['{"type":"retry"}']);
  });

  it("shows a question when it is asked, not before", async () => {
    const { conversation, fake, shown } = setUp();
    conversation.message("go");
    fake.question({ operation: "first_tool" });
    fake.question({ operation: "second_tool", callId: "c2" as ApprovalRequest["callId"], token: "t2" });
    await settle();
    expect(shown()).toMatch(/\? first_tool[\s\S]* {2}it asks/);
    expect(shown()).not.toContain("second_tool");
    conversation.answer("y");
    expect(shown()).toContain("? second_tool");
  });

  it("shows what the model said before its question, and a question that no event announces a little later", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      const { conversation, fake, shown } = setUp();
      conversation.message("go");
      fake.unannounced({});
      fake.emit({ type: "text-delta", runId: "r1", text: "Because of this:" });
      await settle();
      expect(shown()).not.toContain("? bash");
      vi.advanceTimersByTime(1_000);
      expect(shown()).toMatch(/Because of this:[\s\S]*\? bash/);
    } finally {
      vi.useRealTimers();
    }
  });

  it("asks again about a call whose edited arguments must be asked about, however late the log says that they were edited", async () => {
    const { conversation, fake, prompts } = setUp();
    conversation.message("go");
    fake.question({});
    await settle();
    conversation.answer("y");
    fake.question({ token: "t2" });
    await settle();
    fake.emit({ type: "approval-decision", runId: "r1", seq: 1, at: 0, callId: "c1", decision: { type: "allow" } });
    await settle();
    expect(prompts.at(-1)).toMatch(/\[y\]es/);
  });

  it("stops at the first Ctrl-C, aborts at the second, ends the process at the third", async () => {
    const { conversation, fake } = setUp();
    conversation.message("go");
    await settle();
    for (let count = 0; count < 3; count += 1) conversation.interrupt();
    expect(fake.did).toEqual(["stop", "abort", "give up"]);
  });

  it("does to a run that is only being started what was asked for meanwhile", async () => {
    const { conversation, fake } = setUp();
    conversation.message("go");
    conversation.message("use npm");
    conversation.interrupt();
    await settle();
    expect(fake.did).toEqual(["steer use npm", "stop"]);
  });

  it("interrupts at Esc, and aborts at the second", async () => {
    const { conversation, fake } = setUp();
    conversation.escape();
    conversation.message("go");
    await settle();
    conversation.escape();
    expect(fake.did).toEqual(["interrupt"]);
    for (let count = 0; count < 3; count += 1) conversation.escape();
    expect(fake.did).toEqual(["interrupt", "abort"]);
  });

  it("goes from what is edited back to the question at Esc, and interrupts at the next", async () => {
    const { conversation, fake, prompts } = setUp();
    conversation.message("go");
    fake.question({});
    await settle();
    conversation.answer("e");
    conversation.escape();
    expect([prompts.at(-1), fake.did]).toEqual([expect.stringMatching(/\[y\]es/), []]);
    conversation.escape();
    expect(fake.did).toEqual(["interrupt"]);
  });

  it("goes on with a run that waits for a decision before it sends the next message, and keeps the message back while it waits", async () => {
    const { conversation, fake, started, resumed, shown } = setUp();
    conversation.message("deploy");
    await settle();
    fake.end({ reason: "awaiting-decision", waits: [] });
    await conversation.settled();
    const [still, over] = [createFakeRun(), createFakeRun()];
    resumed.push(still.run, over.run);
    conversation.message("and now?");
    await settle();
    still.end({ reason: "awaiting-decision", waits: [] });
    await conversation.settled();
    expect([started, shown()]).toEqual([["a/one: deploy"], expect.stringContaining("your message was not sent")]);
    conversation.message("and then?");
    await settle();
    over.end({ reason: "stopped" });
    await conversation.settled();
    expect([started, resumed]).toEqual([["a/one: deploy", "a/one: and then?"], []]);
  });

  it("leaves no edited arguments in the line of somebody who interrupts", async () => {
    const { conversation, fake, prompts, filled } = setUp();
    conversation.message("go");
    fake.question({});
    await settle();
    conversation.answer("e");
    expect(filled).toEqual(['{"command":"ls"}']);
    conversation.interrupt();
    expect([fake.did, prompts.at(-1), filled.at(-1)]).toEqual([["stop"], expect.stringMatching(/\[y\]es/), ""]);
  });

  it("leaves after a second Ctrl-C when nothing runs, unless something was typed in between", () => {
    const { conversation, quits } = setUp();
    conversation.interrupt();
    conversation.message("/help");
    conversation.interrupt();
    expect(quits()).toBe(0);
    conversation.interrupt();
    expect(quits()).toBe(1);
  });

  it("stops the run before it leaves", async () => {
    const { conversation, fake, quits } = setUp();
    conversation.message("go");
    conversation.message("/quit");
    await settle();
    expect([fake.did, quits()]).toEqual([["stop"], 0]);
    fake.end({ reason: "stopped" });
    await conversation.settled();
    expect(quits()).toBe(1);
  });

  it("changes the model of the run and of the next ones", async () => {
    const { conversation, fake, started, shown } = setUp();
    conversation.message("go");
    conversation.message("/model b/two");
    await settle();
    fake.end({});
    await conversation.settled();
    conversation.message("again");
    expect([fake.did, started.at(-1)]).toEqual([["model b/two"], "b/two: again"]);
    expect(shown()).toContain("model: b/two from the next turn");
  });

  it("answers its own commands and names an unknown one", async () => {
    const { conversation, shown } = setUp();
    for (const command of ["/help", "/cost", "/context", "/model", "/nonsense"]) conversation.message(command);
    await settle();
    for (const words of ["steers it", "facts about cost", "facts about context", "model: a/one", "there is no /nonsense"])
      expect(shown()).toContain(words);
  });

  it("changes mode and effort of the run under way and of the next ones, and follows what the run itself says", async () => {
    const { conversation, fake, terms, seen } = setUp();
    conversation.message("go");
    conversation.message("/mode plan-only");
    conversation.message("/effort high");
    await settle();
    conversation.cycleMode();
    await settle();
    expect([fake.did, terms()]).toEqual([
      ["mode plan-only", "effort high", "mode default"],
      { model: "a/one", mode: "default", effort: "high" },
    ]);
    fake.emit({ type: "permission-mode-switch", runId: "r1", seq: 1, at: 0, from: "default", to: "accept-edits" });
    fake.emit({ type: "permission-mode-switch", runId: "r2", path: ["r2"], seq: 1, at: 0, from: "default", to: "bypass-all" });
    fake.emit({ type: "effort-switch", runId: "r1", seq: 2, at: 0, from: "high", to: null });
    await settle();
    expect([terms(), seen]).toEqual([
      { model: "a/one", mode: "accept-edits", effort: undefined },
      ["permission-mode-switch", "permission-mode-switch", "effort-switch"],
    ]);
  });

  it("asks once more before everything runs unasked where no list can be shown", async () => {
    const { conversation, terms, shown } = setUp();
    conversation.message("/mode bypass-all");
    await settle();
    expect([terms().mode, shown()]).toEqual(["default", expect.stringContaining("/mode bypass-all yes")]);
    conversation.message("/mode bypass-all yes");
    await settle();
    expect(terms().mode).toBe("bypass-all");
  });

  it("shows a failure once, though an event, the outcome and a rejected action tell of it", async () => {
    const { conversation, fake, shown } = setUp();
    const failure = { kind: "backend", message: "the disk is full" } as const;
    fake.run.steer = () => Promise.reject(new AgentError(failure));
    conversation.message("go");
    conversation.message("use npm");
    await settle();
    fake.emit({ type: "error", runId: "r1", failure });
    fake.emit({ type: "gap", runId: "r1", dropped: 3 });
    fake.end({ reason: "error", error: new AgentError(failure) } as never);
    await conversation.settled();
    expect(shown().match(/the disk is full/g)).toHaveLength(1);
    conversation.message("/model x/y");
    conversation.message("once more");
    await conversation.settled();
    expect(shown().match(/the disk is full/g)).toHaveLength(2);
  });

  it("hands messages for the run under way to the queue, sends what the run did not read, and gives it back if the person stopped the run", async () => {
    let waiting: string[] = [];
    const given: string[] = [];
    const queue = {
      send: (text: string) => void waiting.push(text),
      hold: () => void given.push("held"),
      following: (events: AsyncIterable<AgentEvent>) => events,
      takeAll: () => waiting.splice(0),
    };
    const { conversation, fake, started, shown } = setUp(undefined, [], { queue, giveBack: (texts) => void given.push(...texts) });
    conversation.message("go");
    conversation.message("use npm");
    conversation.message("and be quick");
    await settle();
    expect([fake.did, waiting]).toEqual([[], ["use npm", "and be quick"]]);
    expect(shown()).not.toContain("use npm");
    conversation.deliver(waiting.shift() ?? "");
    await settle();
    expect([fake.did, shown()]).toEqual([["steer use npm"], expect.stringContaining("› use npm")]);
    fake.end({});
    await conversation.settled();
    expect(started).toEqual(["a/one: go", "a/one: and be quick"]);
    const stopped = setUp(undefined, [], { queue, giveBack: (texts) => void given.push(...texts) });
    waiting = [];
    stopped.conversation.message("go");
    await settle();
    stopped.conversation.message("never mind");
    stopped.conversation.escape();
    stopped.fake.end({ reason: "stopped" });
    await stopped.conversation.settled();
    expect([stopped.started, given]).toEqual([["a/one: go"], ["held", "never mind"]]);
  });

  it("leaves and gives messages back if the run that was to be stopped cannot be started", async () => {
    const given: string[] = [];
    const waiting: string[] = [];
    const queue = {
      send: (text: string) => void waiting.push(text),
      hold() {},
      following: (events: AsyncIterable<AgentEvent>) => events,
      takeAll: () => waiting.splice(0),
    };
    const fails = (): never => {
      throw new Error("the disk is full");
    };
    const { conversation, quits } = setUp(fails, [], { queue, giveBack: (texts) => void given.push(...texts) });
    conversation.message("go");
    conversation.message("use npm");
    conversation.interrupt();
    await conversation.settled();
    expect(given).toEqual(["use npm"]);
    conversation.end();
    expect(quits()).toBe(1);
  });

  it("sends a message as it is prepared for the agent, to a new run and to the one under way", async () => {
    const outgoing = async (text: string) => [{ type: "text" as const, text: `prepared ${text}` }];
    const { conversation, fake, started } = setUp(undefined, [], { outgoing });
    conversation.message("go");
    await settle();
    conversation.message("on");
    await settle();
    expect(started).toEqual(['a/one: [{"type":"text","text":"prepared go"}]']);
    expect(fake.did).toEqual(['steer {"role":"user","content":[{"type":"text","text":"prepared on"}]}']);
    fake.end({});
    await conversation.settled();
  });

  it("holds messages back while the session is replaced, and follows the run that the other session has", async () => {
    const { conversation, fake, started, resumed, shown } = setUp();
    resumed.push(fake.run);
    const opened = Promise.withResolvers<boolean>();
    const replaced = conversation.replaceSession(() => opened.promise);
    conversation.message("are you there?");
    await settle();
    expect(started).toEqual([]);
    await expect(conversation.replaceSession(async () => false)).rejects.toThrow(/still working/);
    opened.resolve(true);
    await replaced;
    await settle();
    expect([started, fake.did]).toEqual([[], ["steer are you there?"]]);
    conversation.message("/why");
    await expect(conversation.replaceSession(async () => false)).rejects.toThrow(/still working/);
    fake.end({});
    await conversation.settled();
    expect(shown()).toContain("nothing was asked yet");
  });

  it("sends the messages that waited to the session before if the other one cannot be opened", async () => {
    const { conversation, started } = setUp();
    const opened = Promise.withResolvers<boolean>();
    const replaced = conversation.replaceSession(() => opened.promise);
    conversation.message("go on here");
    opened.reject(new Error("its folder is gone"));
    await expect(replaced).rejects.toThrow("its folder is gone");
    await settle();
    expect(started).toEqual(["a/one: go on here"]);
  });

  it("forgets that the session before waits for a decision once it was replaced", async () => {
    const { conversation, fake, started, resumed } = setUp();
    conversation.message("deploy");
    fake.end({ reason: "awaiting-decision", waits: [] });
    await conversation.settled();
    await conversation.replaceSession(async () => false);
    conversation.message("something else");
    await settle();
    expect([started, resumed]).toEqual([["a/one: deploy", "a/one: something else"], []]);
  });

  it("gives a command its argument and the conversation, and shows its failure", async () => {
    const told: unknown[] = [];
    const { conversation, started, shown } = setUp(undefined, [
      {
        name: "review",
        argumentHint: "<file>",
        description: "review a file",
        execute(argument, prompt) {
          told.push(argument, prompt.model, prompt.run);
          prompt.send(`Review ${argument}.`);
        },
      },
      { name: "broken", description: "fails", execute: () => Promise.reject(new Error("no history is kept here")) },
    ]);
    for (const line of ["/help", "/broken", "/review  src/a.ts\nand src/b.ts "]) conversation.message(line);
    await settle();
    expect([told, started]).toEqual([["src/a.ts\nand src/b.ts", "a/one", undefined], ["a/one: Review src/a.ts\nand src/b.ts."]]);
    expect(shown()).toMatch(/\/review <file> +review a file/);
    expect(shown()).toContain("no history is kept here");
  });

  it("sends a line that begins with a path to the agent", () => {
    const { conversation, started } = setUp();
    conversation.message("/etc/hosts is wrong");
    expect(started).toEqual(["a/one: /etc/hosts is wrong"]);
  });

  it("says how to decide and go on when the run was suspended", async () => {
    const { conversation, fake, shown } = setUp();
    conversation.message("go");
    fake.end({ reason: "awaiting-approval", waits: [{ type: "approval", callId: "c1", token: "tok", operation: "bash" }] as never });
    await conversation.settled();
    expect(shown()).toContain("keelson approve tok allow");
  });

  it("shows why a run cannot start, and goes on", async () => {
    const { conversation, shown, prompts } = setUp(() => {
      throw new Error("no such model: a/one");
    });
    conversation.message("go");
    await conversation.settled();
    expect(shown()).toContain("no such model: a/one");
    conversation.message("/model b/two");
    expect(shown()).toContain("model: b/two");
    expect(prompts).toEqual([]);
  });

  describe("always", () => {
    const always = [
      { scope: "exact", rules: ["bash(echo hello)", "bash(ls)"] },
      { scope: "command", rules: ["bash(echo *)"] },
    ] as const;

    async function choosing(): Promise<Setting> {
      const setting = setUp();
      setting.conversation.message("go");
      setting.fake.question({ always });
      await settle();
      setting.conversation.answer("a");
      return setting;
    }

    it("shows the rules before one is chosen, and allows the rule that was in the line, for this session [AV-02, AP-07]", async () => {
      const { conversation, fake, filled, kept, shown } = await choosing();
      expect(shown()).toMatch(/in this session:[\s\S]*1 [\s\S]*bash\(echo hello\)[\s\S]*bash\(ls\)[\s\S]*2 [\s\S]*bash\(echo \*\)/);
      expect(fake.did).toEqual([]);
      conversation.answer("2");
      expect([fake.did, filled.at(-1)]).toEqual([[], "bash(echo *)"]);
      conversation.answer("bash(echo hello*)");
      await settle();
      expect([fake.did, kept]).toEqual([['{"type":"allow-always","rules":["bash(echo hello*)"]}'], []]);
    });

    it("shows each rule of a choice in the line, one after another", async () => {
      const { conversation, fake, filled, prompts } = await choosing();
      conversation.answer("1");
      expect([prompts.at(-1), filled.at(-1)]).toEqual(["allow (1 of 2) › ", "bash(echo hello)"]);
      conversation.answer("bash(echo hello)");
      expect([prompts.at(-1), filled.at(-1)]).toEqual(["allow (2 of 2) › ", "bash(ls)"]);
      conversation.answer("bash(ls)");
      expect(fake.did).toEqual(['{"type":"allow-always","rules":["bash(echo hello)","bash(ls)"]}']);
    });

    it("keeps rules for the project only where the person says so", async () => {
      const { conversation, fake, kept, shown } = await choosing();
      conversation.answer("p");
      expect(shown()).toMatch(/later ones in this project:/);
      conversation.answer("2");
      conversation.answer("bash(echo *)");
      await settle();
      expect([fake.did, kept]).toEqual([['{"type":"allow-always","rules":["bash(echo *)"]}'], ["bash(echo *)"]]);
    });

    it("asks again for a rule that is none, and goes back step by step", async () => {
      const { conversation, fake, prompts, filled, shown } = await choosing();
      conversation.answer("2");
      conversation.answer("bash(");
      expect([fake.did, filled.at(-1), shown()]).toEqual([[], "bash(", expect.stringMatching(/is no rule/)]);
      conversation.answer("");
      expect(prompts.at(-1)).toMatch(/^\[1-2\]/);
      conversation.answer("y");
      conversation.answer("3");
      expect([fake.did, prompts.at(-1)]).toEqual([[], expect.stringMatching(/^\[1-2\]/)]);
      conversation.answer("b");
      expect(prompts.at(-1)).toMatch(/\[y\]es/);
    });

    it("asks again when the rule is refused, since the run still waits", async () => {
      const { conversation, fake, kept, prompts, shown } = await choosing();
      conversation.answer("p");
      conversation.answer("2");
      fake.refuseOnce(new AgentError({ kind: "invalid-option", option: "decision.rules", message: "decision.rules has no call." }));
      conversation.answer("grep");
      await settle();
      expect([fake.did, kept, prompts.at(-1), shown()]).toEqual([
        [],
        [],
        expect.stringMatching(/\[y\]es/),
        expect.stringContaining("decision.rules has no call."),
      ]);
      conversation.answer("y");
      await settle();
      expect(fake.did).toEqual(['{"type":"allow"}']);
    });

    it("is no answer where nothing can be allowed for longer than this call", async () => {
      const { conversation, fake } = setUp();
      conversation.message("go");
      fake.question({});
      await settle();
      for (const line of ["a", "always", "1", ""]) conversation.answer(line);
      expect(fake.did).toEqual([]);
    });
  });
});

import { createAgent, createRunner, defineTool } from "keelson";
import { createDispatchStack, createStoreStack, withStoreMiddleware } from "keelson/middleware";
import { createLocalOrchestrator } from "keelson/orchestration";
import { createMemoryBlobStore, createMemoryEventLog } from "keelson/state";
import { mockStateStore, scriptedModel } from "keelson/testing";
import {
  OrchestratorError,
  sessionLog,
  textMessage,
  type AgentEvent,
  type Operator,
  type OperatorOutput,
  type SessionId,
} from "@keelson/protocol";
import { describe, expect, it } from "vitest";
import { redactDispatches, redactExec, redactStore } from "./redact-boundaries.ts";
import { redactEvents } from "./redact-events.ts";
import { redactTools } from "./redact-tools.ts";
import { createRedactor } from "./redactor.ts";

const SECRET = "correct horse battery";
const redactor = createRedactor({ secrets: [{ name: "vault", value: SECRET }] });
const AWS = ["AK", "IA", "IOSFODNN7EXAMPL3"].join("");

const output = (text: string): OperatorOutput => ({
  message: [{ type: "text", text }],
  exitReason: { type: "complete" },
  metadata: { tokensIn: 0, tokensOut: 0, cost: "0" as never, turnsUsed: 0, subDispatches: [], durationMs: 0, untracked: [] },
  effects: [],
});

describe("redaction around boundaries", () => {
  it("takes secrets out of what dispatches give, their errors too [BM-08]", async () => {
    const leaking: Operator = { execute: async () => output(`it is ${SECRET} and ${AWS}`) };
    const failing: Operator = {
      execute: () => Promise.reject(new Error(`cannot log in with ${SECRET}`)),
    };
    const orchestrator = createLocalOrchestrator({
      operators: { leaking, failing },
      middleware: createDispatchStack().transform(redactDispatches(redactor)).build(),
    });
    const input = { message: textMessage("user", "go").content, trigger: "user" } as never;
    expect((await orchestrator.dispatch("leaking", input)).message).toEqual([
      { type: "text", text: "it is [REDACTED:vault] and [REDACTED:aws-access-key-id]" },
    ]);
    const error: unknown = await orchestrator.dispatch("failing", input).catch((thrown: unknown) => thrown);
    expect(OrchestratorError.is(error)).toBe(true);
    expect(`${String(error)} ${JSON.stringify(error)} ${(error as Error).stack} ${String((error as Error).cause)}`).not.toContain(SECRET);
    expect(String(error)).toContain("[REDACTED:vault]");
  });

  it("takes them out of what environments give", async () => {
    const given = await redactExec(redactor).run({} as never, {} as never, async () => output(SECRET), {} as never);
    expect(given.message).toEqual([{ type: "text", text: "[REDACTED:vault]" }]);
  });

  it("keeps them out of stores, and out of what stands there already", async () => {
    const store = mockStateStore();
    const quiet = withStoreMiddleware(store, createStoreStack().transform(redactStore(redactor)).build());
    const scope = { type: "global" } as never;
    await quiet.write(scope, "new", { note: SECRET });
    await store.write(scope, "old", SECRET);
    expect((await store.read(scope, "new"))?.value).toEqual({ note: "[REDACTED:vault]" });
    expect((await quiet.read(scope, "old"))?.value).toBe("[REDACTED:vault]");
  });
});

describe("redacted tools", () => {
  it("tell secrets to nobody: neither the model nor the log nor a watcher, in results, progress and errors", async () => {
    const tools = redactTools(
      [
        defineTool({
          name: "look",
          description: "Looks.",
          effect: "read",
          maxOutputBytes: 300,
          input: { type: "object" },
          execute: (_input, { progress }) => {
            progress(`found ${SECRET}`);
            // The whole of it is kept beside what the model sees.
            return { text: "x".repeat(290) + SECRET + "y".repeat(500), [SECRET]: 1 };
          },
        }),
        defineTool({
          name: "fail",
          description: "Fails.",
          effect: "read",
          input: { type: "object" },
          execute: () => {
            throw new Error(`refused: ${SECRET}`, { cause: new Error(SECRET) });
          },
        }),
      ],
      redactor,
    );
    const model = scriptedModel([{ toolCalls: [{ name: "look" }, { name: "fail" }] }, "Done."]);
    const log = createMemoryEventLog();
    const session = "s_1" as SessionId;
    const blobs = createMemoryBlobStore();
    const runner = createRunner({ agent: createAgent({ name: "a", model, tools }), log, blobs });
    const run = runner.run("Look.", { session });
    const seen: AgentEvent[] = [];
    for await (const event of run) seen.push(event);
    expect((await run.outcome).reason).toBe("complete");
    const records = [];
    for await (const record of log.read(sessionLog(session))) records.push(record);
    for (const kept of [seen, records, model.requests]) {
      expect(JSON.stringify(kept)).not.toContain(SECRET);
      expect(JSON.stringify(kept)).toContain("[REDACTED:vault]");
    }
    const result = records.find(({ type }) => type === "tool-result")?.data as { readonly blob: never };
    const whole = new TextDecoder().decode(await blobs.get(result.blob));
    expect(whole).toContain("[REDACTED:vault]");
    expect(whole).not.toContain(SECRET);
  });

  it("are the same tools otherwise: a result without secrets is what the tool gave", async () => {
    const result = { fine: true };
    const mixed = { id: 5n, at: new Date(0), kept: new Map([["a", SECRET]]) };
    const [plain, other] = redactTools(
      [result, mixed].map((value, index) =>
        defineTool({ name: `t${index}`, description: "x", version: "7", input: { type: "object" }, execute: () => value as never }),
      ),
      redactor,
    );
    expect(plain?.version).toBe("7");
    expect(await plain?.execute({}, {} as never)).toBe(result);
    expect(await other?.execute({}, {} as never)).toEqual({ id: "5", at: "1970-01-01T00:00:00.000Z", kept: { a: "[REDACTED:vault]" } });
  });
});

describe("redacted events", () => {
  it("are the events of the run in their order, without secrets that a model says piece by piece", async () => {
    const model = scriptedModel([{ text: `The word is ${SECRET}, keep it. And ${AWS}.`, chunkSize: 3 }]);
    const plain: AgentEvent[] = [];
    const events = createRunner({ agent: createAgent({ name: "a", model }) }).run("Say it.");
    const tee = async function* () {
      for await (const event of events) {
        plain.push(event);
        yield event;
      }
    };
    const seen: AgentEvent[] = [];
    for await (const event of redactEvents(tee(), redactor)) seen.push(event);
    const shape = (all: readonly AgentEvent[]) => all.map(({ type }) => type);
    expect(shape(seen)).toEqual(shape(plain));
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    const said = seen.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
    expect(said).toBe("The word is [REDACTED:vault], keep it. And [REDACTED:aws-access-key-id].");
  });
});

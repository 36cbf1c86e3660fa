import { type Decision, OrchestratorError, type JsonValue, type RunId, type SessionId } from "@keelson/protocol";
import { operatorInput } from "keelson/orchestration";
import type { Clock } from "keelson/session";
import { describe, expect, it } from "vitest";
import { createRestateOrchestrator, type RestateOrchestratorOptions } from "./create-restate-orchestrator.ts";

interface Asked {
  readonly path: string;
  readonly headers: Headers;
  readonly body: JsonValue;
}

/** What the server gives back, one after another: a value that a handler granted, a status, or nothing at all. */
type Reply = { readonly value: JsonValue } | { readonly status: number } | "cut off";

/** A client whose requests go nowhere, and whose waits are over at once. */
function clientOf(replies: readonly Reply[], options: Partial<RestateOrchestratorOptions> = {}) {
  const asked: Asked[] = [];
  const waits: number[] = [];
  let now = 0;
  const clock: Clock = {
    now: () => now,
    after(ms, run) {
      waits.push(ms);
      now += ms;
      queueMicrotask(run);
      return () => {};
    },
  };
  const left = [...replies];
  const fetch = async (url: Parameters<typeof globalThis.fetch>[0], init: RequestInit = {}): Promise<Response> => {
    const body = init.body === undefined ? null : (JSON.parse(String(init.body)) as JsonValue);
    asked.push({ path: new URL(String(url)).pathname, headers: new Headers(init.headers), body });
    const reply = left.length > 1 ? left.shift() : left[0];
    if (reply === undefined || reply === "cut off") throw new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") });
    if ("status" in reply) return new Response("not now", { status: reply.status });
    return Response.json({ ok: true, value: reply.value });
  };
  const orchestrator = createRestateOrchestrator({ ingress: "http://restate.test:8080/", fetch, clock, ...options });
  return { orchestrator, asked, waits };
}

const id = "r_1" as RunId;

describe("a client of Restate", () => {
  it.each<unknown>([undefined, null, {}, { type: "perhaps" }])("refuses the decision %j before anything is sent", async (decision) => {
    const { orchestrator, asked } = clientOf([{ value: null }]);
    const approving = orchestrator.approve("token", decision as Decision);
    await expect(approving).rejects.toMatchObject({ failure: { kind: "invalid-option", option: "decision" } });
    expect(asked).toEqual([]);
  });

  it("sends what writes again under one key until it is answered, and what reads under none", async () => {
    const { orchestrator, asked, waits } = clientOf(["cut off", { status: 503 }, { status: 429 }, { value: id }]);
    expect(await orchestrator.start("clerk", operatorInput("go", "user"), { id })).toBe(id);
    const keys = asked.map(({ headers }) => headers.get("idempotency-key"));
    expect(keys).toHaveLength(4);
    expect(new Set(keys).size).toBe(1);
    expect(waits).toEqual([50, 100, 200]);
    expect(asked[0]).toMatchObject({ path: "/keelson/start", body: { id, operator: "clerk", input: { trigger: "user" } } });
    await orchestrator.signal(id, { kind: "news", payload: 1 });
    expect(asked.at(-1)?.headers.get("idempotency-key")).not.toBe(keys[0]);
    const reading = clientOf([{ value: { status: "done" } }]);
    await reading.orchestrator.query(id, { name: "status", params: {} });
    expect(reading.asked[0]?.headers.get("idempotency-key")).toBeNull();
  });

  it("gives up after its patience, and says that it may be tried again", async () => {
    const { orchestrator, waits } = clientOf(["cut off"], { retryForMs: 1000 });
    const error: unknown = await orchestrator.cancel(id, "stop").catch((thrown: unknown) => thrown);
    if (!OrchestratorError.is(error, "operator-error")) throw new Error("it was another error", { cause: error });
    expect(error.failure.operator).toMatchObject({ kind: "retryable", message: expect.stringMatching(/restate\.test:8080.*ECONNREFUSED/) });
    expect(waits).toEqual([50, 100, 200, 400]);
  });

  it("waits for a deployment that Restate doesn't know yet, but not for long", async () => {
    const restarted = clientOf([...Array<Reply>(10).fill("cut off"), { status: 404 }, { status: 404 }, { value: id }]);
    expect(await restarted.orchestrator.start("clerk", operatorInput("go", "user"), { id })).toBe(id);
    expect(new Set(restarted.asked.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);
    const never = clientOf([{ status: 404 }]);
    await expect(never.orchestrator.wake("s" as SessionId)).rejects.toMatchObject({
      failure: { kind: "other", message: /404 not now.*Was the deployment registered/ },
    });
    expect(never.waits).toEqual([50, 100, 200, 400, 800, 1600]);
    const impatient = clientOf([{ status: 404 }], { retryForMs: 0 });
    await expect(impatient.orchestrator.wake("s" as SessionId)).rejects.toMatchObject({ failure: { kind: "other" } });
    expect(impatient.waits).toEqual([]);
  });

  it("sends what is refused once, and says what it was refused with", async () => {
    const { orchestrator, asked } = clientOf([{ status: 400 }]);
    await expect(orchestrator.wake("s" as SessionId)).rejects.toMatchObject({ failure: { kind: "other", message: /400 not now/ } });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ path: "/keelson-session/s/advance/send", body: null });
  });

  it("asks again for a run that is not over, at once or when it is told to", async () => {
    const output = { message: [], exitReason: { type: "complete" }, effects: [], metadata: metadataOf() };
    const { orchestrator, asked, waits } = clientOf([
      { value: { askAgainInMs: 0 } },
      { value: { askAgainInMs: 1000 } },
      "cut off",
      { value: { output } },
    ]);
    expect((await orchestrator.attach(id)).exitReason).toEqual({ type: "complete" });
    expect(asked.map(({ path }) => path)).toEqual(Array.from({ length: 4 }, () => "/keelson/attach"));
    expect(waits).toEqual([0, 1000, 50]);
  });

  it("goes to the service of its name, with the headers that it was given", async () => {
    const { orchestrator, asked } = clientOf([{ value: null }], { name: "orders", headers: { authorization: "Bearer key" } });
    await orchestrator.steer(id, "hurry");
    await orchestrator.wake("a:b@c" as SessionId);
    expect(asked.map(({ path, headers }) => [path, headers.get("authorization")])).toEqual([
      ["/orders/steer", "Bearer key"],
      ["/orders-session/a%3Ab%40c/advance/send", "Bearer key"],
    ]);
    expect(asked[0]?.body).toEqual({ target: id, message: { role: "user", content: [{ type: "text", text: "hurry" }] }, interrupt: false });
  });
});

function metadataOf(): JsonValue {
  return { tokensIn: 0, tokensOut: 0, cost: "0", turnsUsed: 1, durationMs: 0, subDispatches: [], untracked: [] };
}

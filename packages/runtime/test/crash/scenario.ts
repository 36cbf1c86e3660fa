import {
  type Approver,
  type BlobStore,
  type BudgetLedger,
  type EventLog,
  type InferRequest,
  ModelError,
  type SessionId,
  sessionLog,
  type Tool,
} from "@keelson/protocol";
import type { Clock } from "../../src/platform/clock.ts";
import { agentTool, createAgent, createRunner, defineTool, type RunnerOptions } from "../../src/index.ts";
import type { Agent } from "../../src/agent/definition/agent.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { scriptedModel, type ScriptedResponse, type ScriptedModel } from "../../src/testing/scripted-model.ts";
import type { Points } from "./points.ts";
import type { SideEffects } from "./side-effects.ts";
import { watchedLog } from "./watched-log.ts";

export const SESSION = "crash";

/** What the tools that change something are called with, each of them once. */
const INPUTS = {
  mark: { with: "chalk" },
  send: { to: "ann" },
  post: { to: "bob" },
  pay: { amount: 5 },
  file_report: { about: "it" },
} as const;

/** What such a tool returns. */
export function outputOf(tool: string): string {
  return `${tool} ${JSON.stringify(INPUTS[tool as keyof typeof INPUTS])}`;
}

export interface ScenarioServices {
  readonly log: EventLog;
  readonly blobs: BlobStore;
  readonly effects: SideEffects;
  readonly points: Points;
  readonly ledger?: BudgetLedger;
  readonly owner?: string;
  readonly leaseTtlMs?: number;
  /** Unix ms. Default: the time of day. */
  readonly now?: () => number;
  readonly maxDurationMs?: number;
  /** Default: {@link impatientClock}. */
  readonly clock?: Clock;
  /** Takes the ledger of tool calls out: reservations are forgotten as they are written. */
  readonly withoutLedger?: boolean;
}

export type OpenRunner = (services: ScenarioServices) => SingleRunner;

/**
 * A job that holds every kind of act: instructions from a function, reads side by side, an idempotent tool, writes that can
 * and cannot be reconciled, a server error with its retry, a call that a person must allow, a child agent with tools. Each
 * step passes points before and after what it does.
 */
export function openScenario(services: ScenarioServices): SingleRunner {
  return openRunner(services, (log) => mainAgent(services, log));
}

/** A runner whose appends pass points. */
export function openRunner(
  services: ScenarioServices,
  agentOn: (log: EventLog) => Agent<undefined>,
  approvals?: Approver,
  options: RunnerOptions = {},
): SingleRunner {
  const { points } = services;
  const watched = watchedLog(services.log, {
    ...(services.withoutLedger && {
      rewrite: (_log, records) =>
        records.map((record) =>
          record.type === "tool-reserved"
            ? { ...record, type: "forgotten", key: `${record.key}/forgotten/${services.owner ?? ""}` }
            : record,
        ),
    }),
    before: () => points.pass("append"),
    after: () => points.pass("appended"),
  });
  const log: EventLog = {
    ...watched,
    async acquire(id, lease) {
      await points.waitIfDead();
      const held = await watched.acquire(id, lease);
      return {
        ...held,
        async renew() {
          await points.waitIfDead();
          return held.renew();
        },
      };
    },
  };
  return createRunner({
    ...options,
    agent: agentOn(log),
    log,
    blobs: services.blobs,
    ...(services.ledger && { ledger: services.ledger }),
    clock: { ...(services.clock ?? impatientClock), ...(services.now && { now: services.now }) },
    random: () => 0.5,
    approvalKeys: { current: { id: "test", secret: new Uint8Array(32).fill(7) } },
    ...(approvals && { approvals }),
    ...(services.owner !== undefined && { owner: services.owner }),
    // What each life goes on with is restored from a snapshot, however short the log.
    recordsPerSnapshot: 1,
    ...(services.leaseTtlMs !== undefined && { leaseTtlMs: services.leaseTtlMs }),
  });
}

/** Real time, in which nobody waits for a retry. What takes a minute or more (people) takes it, and so do timers that keep no process alive (leases). */
export const impatientClock: Clock = {
  now: () => Date.now(),
  after(ms, run, options) {
    if (options?.keepAlive !== false && ms < 60_000) {
      const immediate = setImmediate(run);
      return () => clearImmediate(immediate);
    }
    const timer = setTimeout(run, ms);
    if (options?.keepAlive === false) timer.unref();
    return () => clearTimeout(timer);
  },
};

function mainAgent(services: ScenarioServices, log: EventLog): Agent<undefined> {
  const { points } = services;
  return createAgent({
    name: "main",
    model: scriptByTurn(points, "scripted/main", async (turn, request) => {
      switch (turn) {
        case 0:
          return {
            text: "Looking first.",
            toolCalls: [
              { name: "look", input: { at: "door" } },
              { name: "look", input: { at: "window" } },
              { name: "mark", input: INPUTS.mark },
            ],
          };
        case 1:
          return {
            text: "Telling them.",
            toolCalls: [
              { name: "send", input: INPUTS.send },
              { name: "post", input: INPUTS.post },
            ],
          };
        case 2:
          // Fails until the log says that it did, so that a crash in between changes nothing about the end.
          if (!(await hasFailed(log))) throw new ModelError({ kind: "server-error", message: "overloaded" });
          return {
            text: "Paying.",
            toolCalls: [
              { name: "pay", input: INPUTS.pay },
              { name: "look", input: { at: "bill" } },
            ],
          };
        case 3:
          return { text: "Asking for help.", toolCalls: [{ name: "helper", input: { task: "Write the report." } }] };
        default:
          return { text: `Done after ${request.messages.length} messages.` };
      }
    }),
    instructions: async () => {
      await points.pass("instructions");
      return "You are careful.";
    },
    ...(services.maxDurationMs !== undefined && { limits: { maxDurationMs: services.maxDurationMs } }),
    permissions: { rules: [{ pattern: "pay", behavior: "ask" }] },
    tools: [
      tool(services, "look", "read"),
      tool(services, "mark", "idempotent"),
      tool(services, "send", "write"),
      tool(services, "post", "write", true),
      tool(services, "pay", "write"),
      agentTool(helperAgent(services)),
    ],
  });
}

function helperAgent(services: ScenarioServices): Agent<undefined> {
  return createAgent({
    name: "helper",
    description: "Writes reports.",
    model: scriptByTurn(services.points, "scripted/helper", (turn) =>
      turn === 0
        ? {
            toolCalls: [
              { name: "look", input: { at: "files" } },
              { name: "file_report", input: INPUTS.file_report },
            ],
          }
        : { text: "The report is filed." },
    ),
    tools: [tool(services, "look", "read"), tool(services, "file_report", "write", true)],
  });
}

/** A model that answers by what stands in the conversation alone, so that any process can go on with it. */
export function scriptByTurn(
  points: Points,
  name: string,
  respond: (turn: number, request: InferRequest) => ScriptedResponse | Promise<ScriptedResponse>,
): ScriptedModel {
  const turn = async (request: InferRequest): Promise<ScriptedResponse> => {
    await points.pass("inferring");
    const response = await respond(request.messages.filter(({ role }) => role === "assistant").length, request);
    await points.pass("inferred");
    return response;
  };
  return scriptedModel(
    Array.from({ length: 100 }, () => turn),
    { name },
  );
}

/** Whether the log holds a failed inference. */
export async function hasFailed(log: EventLog): Promise<boolean> {
  for await (const record of log.read(sessionLog(SESSION as SessionId))) if (record.type === "inference-failed") return true;
  return false;
}

/** A tool that passes points before and after what it does. */
export function tool({ points, effects }: ScenarioServices, name: string, effect: "read" | "idempotent" | "write", canTell = false): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    effect,
    input: { type: "object" },
    async execute(input, { idempotencyKey, attempt }) {
      await points.pass(`${name}/before`);
      if (effect !== "read") effects.write({ tool: name, key: idempotencyKey, attempt });
      await points.pass(`${name}/after`);
      return `${name} ${JSON.stringify(input)}`;
    },
    ...(canTell && {
      async reconcile(input: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) {
        await points.pass(`${name}/reconcile`);
        return effects.read().some(({ key }) => key === idempotencyKey) ? { output: `${name} ${JSON.stringify(input)}` } : "not-done";
      },
    }),
  }) as Tool;
}

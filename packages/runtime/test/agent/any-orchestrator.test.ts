import type { Operator, OperatorOutput, Orchestrator, RunId, SessionId } from "@keelson/protocol";
import { createAgent, createRunner, defineTool, type Runner } from "keelson";
import { agentOperators, createDurableOrchestrator, createLocalOrchestrator, fanOut, operatorInput } from "keelson/orchestration";
import { createMemoryEventLog } from "keelson/state";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { describe, expect, it } from "vitest";

const always = (turn: ScriptedTurn): readonly ScriptedTurn[] => Array.from({ length: 20 }, () => turn);
const textOf = ({ message }: Pick<OperatorOutput, "message">): string =>
  message.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");

/** Agents by what they are asked: none remembers who asks. */
function agents() {
  const dig = defineTool({
    name: "dig",
    description: "Digs until it is told to stop.",
    effect: "write",
    input: { type: "object" },
    execute: (_input, { stopping }) =>
      new Promise<string>((resolve) => {
        stopping.addEventListener("abort", () => resolve("put the spade away"), { once: true });
        if (stopping.aborted) resolve("put the spade away");
      }),
  });
  return {
    echo: createAgent({
      name: "echo",
      model: scriptedModel(always(({ messages }) => textOf({ message: messages.at(-1)?.content ?? [] }).toUpperCase())),
    }),
    digger: createAgent({ name: "digger", model: scriptedModel(always({ toolCalls: [{ name: "dig", input: {} }] })), tools: [dig] }),
    poor: createAgent({ name: "poor", model: scriptedModel(always({ error: { kind: "billing", message: "no funds" } })) }),
  };
}

function local(): Orchestrator {
  return createLocalOrchestrator({ operators: agentOperators(createRunner({ agents: agents() })) });
}

/** Over the log alone: whoever works the runs is not whoever starts them, and they share no runner. */
function engine(): Orchestrator {
  const log = createMemoryEventLog();
  const starters: Runner<ReturnType<typeof agents>> = createRunner({ agents: agents(), log });
  let working = Promise.resolve();
  const orchestrator = createDurableOrchestrator({
    runner: () => starters,
    wake: async (session) => void (working = working.then(() => advance(session))),
  });
  const advance = async (session: SessionId): Promise<void> => {
    const worker: Runner<ReturnType<typeof agents>> = createRunner({ agents: agents(), log, orchestrator });
    while ((await worker.advance(session)).next.type === "now");
  };
  return orchestrator;
}

const ORCHESTRATORS = { "in this process": local, "on an engine": engine };

/** What somebody sees who knows an `Orchestrator`, and not which one. */
async function transcript(orchestrator: Orchestrator): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const failure = (promise: Promise<unknown>): Promise<unknown> =>
    promise.then(
      () => expect.unreachable(),
      (error: unknown) => {
        const { failure, message } = error as { readonly failure: object; readonly message: string };
        return { ...failure, message: message.replace("no agent", "no operator") };
      },
    );
  const said = ({ message, exitReason, metadata: { turnsUsed, tokensIn } }: OperatorOutput) => ({
    message,
    exitReason,
    turnsUsed,
    tokensIn,
  });
  seen.push(said(await orchestrator.dispatch("echo", operatorInput("hello", "user"))));

  const id = await orchestrator.start("echo", operatorInput("once", "user"), { id: "r_once" as RunId });
  seen.push(id, await orchestrator.start("echo", operatorInput("twice", "user"), { id }), said(await orchestrator.attach(id)));
  seen.push(await orchestrator.query(id, { name: "status", params: {} }));
  seen.push(await failure(orchestrator.signal(id, { kind: "late", payload: null })));

  for (const stop of [
    (run: RunId) => orchestrator.cancel(run, "stop"),
    (run: RunId) => orchestrator.signal(run, { kind: "stop", payload: null }),
  ]) {
    const digging = await orchestrator.start("digger", operatorInput("dig", "user"));
    await stop(digging);
    seen.push((await orchestrator.attach(digging)).exitReason);
  }

  seen.push(await failure(orchestrator.dispatch("nobody", operatorInput("go", "user"))));
  seen.push(await failure(orchestrator.dispatch("poor", operatorInput("go", "user"))));
  const tasks = ["a", "b", "c"].map((task) => ({ operator: task === "b" ? "poor" : "echo", task }));
  const results = await fanOut(orchestrator, tasks, { maxParallel: 2 });
  seen.push(results.map((result) => (result.ok ? textOf(result.output) : result.error.failure)));
  return seen.map((what) =>
    typeof what === "object" && what !== null && "status" in what ? { status: what.status, operator: "echo" } : what,
  );
}

describe("one program on any orchestrator", () => {
  it("sees the same of runs in this process and on an engine: outputs, endings, failures, cancellation [OR-05, OR-10]", async () => {
    const [here, there] = await Promise.all([transcript(local()), transcript(engine())]);
    expect(there).toEqual(here);
    expect(here).toMatchObject([
      { message: [{ text: "HELLO" }], exitReason: { type: "complete" }, turnsUsed: 1 },
      "r_once",
      "r_once",
      { message: [{ text: "ONCE" }] },
      { status: "done" },
      { kind: "signal-failed" },
      { type: "stopped" },
      { type: "stopped" },
      { kind: "operator-not-found", operator: "nobody", available: ["echo", "digger", "poor"] },
      { kind: "operator-error", operator: { kind: "model", message: "no funds" } },
      ["A", { kind: "operator-error" }, "C"],
    ]);
  });

  it.each(Object.entries(ORCHESTRATORS))(
    "schedules agents %s with a barrier: they work side by side, nobody goes on before the last is back, and steering is heard in between [LA-21, OR-10]",
    async (_where, create) => {
      const far = create();
      const order: string[] = [];
      const operator = (name: string): Operator => ({
        async execute(input, { runId, authority }) {
          order.push(`${name} begins`);
          const output = await far.dispatch("echo", input, { id: runId.replaceAll("/", ".") as RunId, authority });
          order.push(`${name} ends`);
          return output;
        },
      });
      const steered = Promise.withResolvers<void>();
      const planner: Operator = {
        async execute(_input, context) {
          const survey = async (site: string): Promise<string> =>
            textOf(await context.startChild({ key: `survey/${site}`, operator: "surveyor", input: operatorInput(site, "task") }));
          // The barrier holds until somebody has steered, so that this is in the middle.
          const surveys = {
            key: "surveys",
            run: async () => (await steered.promise, await Promise.all(["hill", "river", "mill"].map(survey))),
          };
          const wishes: string[] = [];
          for (let round = 0; ; round++) {
            const first = await context.select(`barrier/${round}`, [{ type: "step", spec: surveys }, { type: "inbox" }]);
            for (const entry of await context.inbox(`steering/${round}`)) {
              if (entry.type === "signal") wishes.push(String(entry.signal.payload));
              steered.resolve();
            }
            if (first === 0) break;
          }
          const reports = await context.step(surveys.key, surveys.run);
          const task = [...(reports.ok ? reports.value : []), ...wishes].join(", ");
          return context.startChild({ key: "draw", operator: "architect", input: operatorInput(task, "task") });
        },
      };
      const orchestrator = createLocalOrchestrator({
        operators: { planner, surveyor: operator("surveyor"), architect: operator("architect") },
      });
      const id = await orchestrator.start("planner", operatorInput("plan", "user"));
      await orchestrator.signal(id, { kind: "user-message", payload: "of timber" });
      expect(textOf(await orchestrator.attach(id))).toBe("HILL, RIVER, MILL, OF TIMBER");
      const three = (what: string): readonly string[] => Array.from({ length: 3 }, () => `surveyor ${what}`);
      expect(order).toEqual([...three("begins"), ...three("ends"), "architect begins", "architect ends"]);
    },
  );
});

import type { Directive, Effect, Tool } from "@keelson/protocol";
import type { Run, RunOutcome } from "../../../src/index.ts";
import type { Life } from "../life.ts";
import type { Scenario } from "../scenario.ts";

const ask = (name: string, task: string) => ({ toolCalls: [{ name, input: { task } }] });

/** Runs beside others: children, schedules, effects, shared budgets. */
export const WORKING_TOGETHER: readonly Scenario[] = [
  {
    name: "children",
    open(life) {
      const { createAgent, agentTool } = life.release.root;
      const cook = createAgent({
        name: "cook",
        model: life.model([{ toolCalls: [{ name: "stir", input: {} }] }, "The soup is ready."], { name: "cook/model" }),
        tools: [life.tool("stir", "idempotent")],
      });
      const buyer = createAgent({
        name: "buyer",
        model: life.model(
          [{ toolCalls: [{ name: "buy", input: { what: "bread" } }] }, { text: "Bread is here.", wait: () => life.end() }],
          {
            name: "buyer/model",
          },
        ),
        tools: [life.tool("buy", "write")],
      });
      const host = createAgent({
        name: "host",
        model: life.model([ask("cook", "Make soup."), ask("buyer", "Get bread."), "Dinner is served."]),
        tools: [agentTool(cook), agentTool(buyer)],
      });
      return life.runner(host);
    },
    async write(runner, life) {
      await life.live(runner.run("Dinner for two.", { session: "children" }));
    },
  },
  {
    name: "background",
    open(life) {
      const { createAgent } = life.release.root;
      const helper = createAgent({
        name: "helper",
        model: life.model([{ toolCalls: [{ name: "search", input: {} }] }, { text: "Found it.", wait: () => life.end() }], {
          name: "helper/model",
        }),
        tools: [life.tool("search", "write")],
      });
      const lead = createAgent({
        name: "lead",
        model: life.model([
          declare({ type: "spawn-agent", name: "helper", config: { task: "Find it." } }),
          "Waiting for it.",
          "It is found.",
        ]),
        tools: [declaring(life)],
      });
      return life.team([lead, helper]);
    },
    async write(runner, life) {
      await life.live(runner.run("Find my keys.", { session: "background" }));
    },
  },
  {
    name: "effects",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "clerk",
          model: life.model([
            declare(
              { type: "run-instruction", instruction: "first", input: 1 },
              { type: "run-instruction", instruction: "second", input: 2 },
            ),
            "All is done.",
          ]),
          tools: [declaring(life, { type: "custom", name: "ring", payload: { times: 2 } })],
        }),
        {
          effects: {
            supports: () => true,
            async execute(effect, { idempotencyKey }) {
              const name =
                effect.type === "directive" && effect.directive.type === "run-instruction" ? effect.directive.instruction : effect.type;
              life.done.push(`${name} ${idempotencyKey}`);
              if (name === "second") await life.end();
              return `${name} is true`;
            },
          },
        },
      ),
    async write(runner, life) {
      await life.live(runner.run("Do both.", { session: "effects" }));
    },
  },
  {
    name: "background-task",
    open: (life) =>
      life.team(
        [
          life.release.root.createAgent({
            name: "lead",
            model: life.model([declare({ type: "spawn-task", description: "count", input: { to: 3 } }), "Waiting.", "Counted."]),
            tools: [declaring(life)],
          }),
        ],
        {
          tasks: {
            async run(description, _input, { idempotencyKey }) {
              life.done.push(`${description} ${idempotencyKey}`);
              await life.end();
              return 3;
            },
          },
        },
      ),
    async write(runner, life) {
      await life.live(runner.run("Count.", { session: "background-task" }));
    },
  },
  {
    name: "scheduled",
    open: (life) =>
      life.runner(life.release.root.createAgent({ name: "gardener", model: life.model(["Watered.", "Watered again.", "And again."]) })),
    async write(runner, life) {
      const scheduler = life.release.orchestration.createScheduler({ runner });
      await life.live(runner.run("Water the plants.", { session: "scheduled" }));
      await scheduler.schedule({ session: "scheduled", key: "once", action: "water them once more", delay: "30m" });
      await scheduler.schedule({ session: "scheduled", key: "daily", action: "water them", cron: "0 18 * * *", timeZone: "Europe/Oslo" });
    },
    async goOn(runner, life) {
      const outcomes: RunOutcome<unknown>[] = [];
      const runs: Run<unknown>[] = [];
      const scheduler = life.release.orchestration.createScheduler({ runner, onRun: (run) => void runs.push(run) });
      life.done.push(...(await scheduler.list()).map(({ action, nextAt }) => `${action} is due at ${nextAt}`));
      for (const hours of [0, 12]) {
        life.clock.advance(hours * 3_600_000);
        const { fired } = await scheduler.tick();
        life.done.push(...fired.map(({ action, scheduledAt }) => `${action} for ${scheduledAt}`));
        for (const run of runs.splice(0)) outcomes.push(await run.outcome);
      }
      return outcomes;
    },
  },
  {
    name: "budgeted",
    open(life) {
      const price = { input: "0", output: "1000", asOf: "2026-01-01" };
      const usage = { outputTokens: 100 };
      const agent = life.release.root.createAgent({
        name: "spender",
        model: life.model(
          [
            { toolCalls: [{ name: "look", input: {} }], usage },
            { text: "Spent.", usage, wait: () => life.end() },
          ],
          { price },
        ),
        settings: { maxTokens: 100 },
        limits: { maxCost: "0.35", budgetThresholds: [0.2] },
        tools: [life.tool("look", "read")],
      });
      return life.runner(agent, { budgets: [{ id: "household", maxCost: "2" }] });
    },
    async write(runner, life) {
      await life.live(runner.run("Spend something.", { session: "budgeted" }));
    },
  },
];

/** Declares what the model asks for, and this besides. */
function declaring(life: Life, ...besides: readonly Effect[]): Tool {
  return life.release.root.defineTool({
    name: "declare",
    description: "Declares directives.",
    effect: "idempotent",
    input: { type: "object" },
    execute(input, call) {
      for (const directive of (input as unknown as { readonly directives: readonly Directive[] }).directives)
        call.declare?.({ type: "directive", directive });
      for (const effect of besides) call.declare?.(effect);
      return "declared";
    },
  }) as Tool;
}

function declare(...directives: readonly Directive[]): { readonly toolCalls: readonly [{ readonly name: string; readonly input: never }] } {
  return { toolCalls: [{ name: "declare", input: { directives } as never }] };
}

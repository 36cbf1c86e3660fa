// An operator of one's own sends three surveyors out at once, and lets the architect draw only when the last is back: a barrier.
// In the middle somebody tells it what else is wanted. It hears that while it waits, and the architect is told.
import assert from "node:assert/strict";
import { scriptedModel } from "keelson/testing";

const done: string[] = [];
const steered = Promise.withResolvers<void>();
let out = 0;
const allOut = Promise.withResolvers<void>();
const models = {
  surveyor: scriptedModel(
    Array.from({ length: 3 }, () => async ({ messages }) => {
      const site = /the (\w+)/.exec(JSON.stringify(messages))?.[1] ?? "";
      if (++out === 3) allOut.resolve();
      // One comes back long after the others.
      if (site === "harbour") await steered.promise;
      done.push(site);
      return `The ${site} is dry.`;
    }),
    { name: "scripted/surveyor" },
  ),
  architect: scriptedModel([() => (done.push("architect"), "Three storeys of timber.")], { name: "scripted/architect" }),
};

// #region operator
import { createAgent, createRunner } from "keelson";
import { agentOperators, createLocalOrchestrator, operatorInput, type Operator, type OperatorOutput } from "keelson/orchestration";

const surveyor = createAgent({ name: "surveyor", model: models.surveyor });
const architect = createAgent({ name: "architect", model: models.architect });

const planner: Operator = {
  async execute(input, context) {
    const sites = ["river", "hill", "harbour"];
    const survey = async (site: string): Promise<string> =>
      textOf(
        await context.startChild({ key: `survey/${site}`, operator: "surveyor", input: operatorInput(`Survey the ${site}.`, "task") }),
      );
    const surveys = { key: "surveys", run: () => Promise.all(sites.map(survey)) };

    const wishes: string[] = [];
    for (let round = 0; ; round++) {
      const first = await context.select(`barrier/${round}`, [{ type: "step", spec: surveys }, { type: "inbox" }]);
      for (const entry of await context.inbox(`steering/${round}`)) {
        if (entry.type === "signal") wishes.push(String(entry.signal.payload));
        if (entry.type === "stop") throw new Error("The plan was called off before the surveys were back.");
      }
      if (first === 0) break;
    }

    const reports = await context.step(surveys.key, surveys.run); // done already: this gives what they said
    if (!reports.ok) throw new Error(`No plan without all surveys: ${reports.failure.message}`);
    const task = [textOf(input), ...reports.value, ...wishes].join("\n");
    return context.startChild({ key: "draw", operator: "architect", input: operatorInput(task, "task") });
  },
};

const textOf = ({ message }: Pick<OperatorOutput, "message">): string =>
  message.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
// #endregion

// #region steer
const runner = createRunner({ agents: { surveyor, architect } });
const orchestrator = createLocalOrchestrator({ operators: { ...agentOperators(runner), planner } });

const id = await orchestrator.start("planner", operatorInput("Plan a boathouse.", "user"));
await allOut.promise;
await orchestrator.signal(id, { kind: "user-message", payload: "No concrete, please." });
steered.resolve();
const { message, exitReason } = await orchestrator.attach(id);
// #endregion

assert.deepEqual([message, exitReason], [[{ type: "text", text: "Three storeys of timber." }], { type: "complete" }]);
assert.deepEqual(done.slice(-2), ["harbour", "architect"]); // nobody drew before the last was back
assert.deepEqual(done.toSorted(), ["architect", "harbour", "hill", "river"]);
const told = models.architect.requests[0]?.messages.at(-1)?.content;
assert.deepEqual(told, [
  { type: "text", text: "Plan a boathouse.\nThe river is dry.\nThe hill is dry.\nThe harbour is dry.\nNo concrete, please." },
]);
console.log("The architect drew when the last survey was back, and was told what was asked for in the middle.");

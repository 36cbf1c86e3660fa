import { createAgent, createModelRegistry, createRunner, type Run } from "keelson";
import { scriptedModel, type ScriptedTurn } from "keelson/testing";
import { expect, it } from "vitest";
import { ofType, recordingTool, sharedServices, watch } from "./support.ts";

const look: ScriptedTurn = { toolCalls: [{ name: "look", input: {} }] };

/** A runner as another process would make it: its models answer by their own names. */
function processOf(
  services: ReturnType<typeof sharedServices>,
  { tell, without = [] }: { tell?: () => Promise<unknown>; without?: readonly string[] } = {},
) {
  const tool = recordingTool("look", { effect: "read" });
  tool.execute = async () => (await tell?.(), "seen");
  const named = (id: string) =>
    scriptedModel([tell && id === "own" ? look : `${id} said it`, `${id} said it`, `${id} said it`], { name: `${id}/model` });
  const ids = ["own", "set", "other"].filter((id) => !without.includes(id));
  const models = createModelRegistry({ providers: Object.fromEntries(ids.map((id) => [id, named(id)])) });
  const agents = {
    a: createAgent({ name: "a", model: "own/model", tools: [tool] }),
    b: createAgent({ name: "b", model: "other/model", tools: [tool] }),
  };
  return createRunner({ ...services, agents, models });
}

const turnModels = async (run: Run<unknown>) => ofType((await watch(run)).events, "turn-start").map(({ model }) => model);
const go = { agent: "a", session: "s" } as const;

/** A session in whose first run the model was set, while a tool was at work. */
async function switched(): Promise<ReturnType<typeof sharedServices>> {
  const services = sharedServices();
  const holder: { run?: Run<unknown> } = {};
  const first = processOf(services, { tell: async () => holder.run?.setModel("set/model") });
  holder.run = first.run("go", go);
  expect(await turnModels(holder.run)).toEqual(["own/model", "set/model"]);
  return services;
}

it("a model that was set is asked in later runs of the session too, in other processes, and in a fork of it [RN-07]", async () => {
  const services = await switched();
  expect(await turnModels(processOf(services).run("again", go))).toEqual(["set/model"]);
  expect(await turnModels(processOf(services).run("and again", go))).toEqual(["set/model"]);
  const fork = await processOf(services).sessions.fork("s");
  expect(await turnModels(processOf(services).run("aside", { ...go, session: fork }))).toEqual(["set/model"]);
});

it("a model that was set is that of its session and its agent alone [RN-07]", async () => {
  const services = await switched();
  expect(await turnModels(processOf(services).run("go", { ...go, session: "t" }))).toEqual(["own/model"]);
  expect(await turnModels(processOf(services).run("go", { agent: "b", session: "s" }))).toEqual(["other/model"]);
  expect(await turnModels(processOf(services).run("go", go))).toEqual(["set/model"]);
});

it("a run that names a model asks that one, and leaves what was set as it is [RN-07]", async () => {
  const services = await switched();
  expect(await turnModels(processOf(services).run("go", { ...go, model: "other/model" }))).toEqual(["other/model"]);
  expect(await turnModels(processOf(services).run("go", go))).toEqual(["set/model"]);
});

it.each(["while its last response streams", "when it is over"])(
  "a model that is set in a run %s is asked in the next [RN-07]",
  async (when) => {
    for (const explicit of [false, true]) {
      const services = sharedServices();
      const run = processOf(services).run("go", go);
      if (when === "when it is over") await run.outcome;
      for await (const event of run.events({ after: 0 })) if (event.type === "text-delta") await run.setModel("set/model");
      if (when === "when it is over") await run.setModel("set/model");
      expect((await run.outcome).text).toBe("own said it");
      if (explicit) expect(await turnModels(processOf(services).run("go", { ...go, model: "other/model" }))).toEqual(["other/model"]);
      const next = await watch(processOf(services).run("go", go));
      expect(ofType(next.events, "turn-start").map(({ model }) => model)).toEqual(["set/model"]);
      // It began with that model: nothing was switched.
      expect(ofType(next.events, "model-switch")).toEqual([]);
    }
  },
);

it("a runner that has not the model that was set says so and asks the agent's own", async () => {
  const services = await switched();
  const { events, outcome } = await watch(processOf(services, { without: ["set"] }).run("go", go));
  expect(outcome.text).toBe("own said it");
  expect(ofType(events, "status")).toMatchObject([
    { level: "warn", status: expect.stringMatching(/^The model that was set for this session is not to be had, so own\/model is asked: /) },
  ]);
});

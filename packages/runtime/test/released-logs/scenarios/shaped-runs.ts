import type { Scenario } from "../scenario.ts";

const work = (step: number) => ({ toolCalls: [{ name: "work", input: { step } }] });

/** Runs with what shapes an agent: plugins, strategies, structured output, signals and steering. */
export const SHAPED_RUNS: readonly Scenario[] = [
  {
    name: "plugins",
    open(life) {
      const diary = life.release.agent.definePlugin({
        key: "diary",
        initialState: { lines: [] as string[], tools: 0 },
        beforeRun: ({ message }, state) => void state.value.lines.push(`before ${message}`),
        onUserMessage: ({ turn, message }, state) => void state.value.lines.push(`heard ${turn} ${message}`),
        onEvent({ event }, state) {
          if (event.type === "tool-result") state.value.tools++;
        },
        afterRun: ({ reason }, state) => void state.value.lines.push(`after ${reason}`),
      });
      return life.runner(
        life.release.root.createAgent({
          name: "worker",
          model: life.model([work(1), work(2), { text: "Done.", wait: () => life.end() }, "More."]),
          tools: [life.tool("work", "write")],
          plugins: [diary],
        }),
      );
    },
    async write(runner, life) {
      await life.live(runner.run("Go.", { session: "plugins" }));
    },
    goOn: async (runner, life) => [
      await (await runner.resume("plugins")).outcome,
      await life.live(runner.run("On.", { session: "plugins" })),
    ],
  },
  {
    name: "state-machine",
    open(life) {
      const { fsmStrategy, signalRoute, waitForSignalTool } = life.release.agent;
      const strategy = fsmStrategy()
        .initial("new")
        .state("new", { tools: ["check"] })
        .tools("wait_for_order")
        .transition("new", "check", "checked")
        .transition("checked", "send", "sent")
        .route(signalRoute("recall", { type: "transition", state: "checked" }))
        .build();
      return life.runner(
        life.release.root.createAgent({
          name: "shop",
          model: life.model([
            { toolCalls: [{ name: "send", input: { to: "nobody" } }] },
            { toolCalls: [{ name: "check", input: {} }] },
            { toolCalls: [{ name: "wait_for_order", input: {} }] },
            { toolCalls: [{ name: "send", input: { to: "ada" } }] },
            "It is on its way.",
          ]),
          strategy,
          tools: [
            life.tool("check", "idempotent"),
            life.tool("send", "write"),
            waitForSignalTool({ name: "wait_for_order", kinds: ["order"] }),
          ],
        }),
      );
    },
    async write(runner, life) {
      await life.live(runner.run("Sell.", { session: "state-machine" }));
    },
    async goOn(runner) {
      await runner.signal("state-machine", { kind: "order", payload: { of: "tea" } }, { key: "order-1" });
      return [await (await runner.resume("state-machine")).outcome];
    },
  },
  {
    name: "typed",
    open(life) {
      const giveOutput = (input: { readonly total: number | string }) => ({ toolCalls: [{ name: "final_answer", input }] });
      const agent = life.release.root.createAgent({
        name: "accountant",
        model: life.model([work(1), giveOutput({ total: "twelve" }), { ...giveOutput({ total: 12 }), wait: () => life.end() }]),
        tools: [life.tool("work", "write")],
        output: { type: "object", properties: { total: { type: "number" } }, required: ["total"] },
      });
      return life.runner(agent) as never;
    },
    async write(runner, life) {
      await life.live(runner.run("What is the total?", { session: "typed" }));
    },
  },
  {
    name: "steered",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "worker",
          model: life.model([work(1), { text: "Done.", wait: () => life.end() }, "And that is done, too."]),
          tools: [life.tool("work", "write")],
        }),
      ),
    async write(runner, life) {
      const run = runner.run("Go.", { session: "steered" });
      await life.live(run);
      await run.steer("Faster, please.");
      await runner.signal("steered", { kind: "weather", payload: { sky: "rain" } }, { key: "weather-1" });
    },
  },
  {
    name: "stopped-from-outside",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "worker",
          model: life.model([work(1), { ...work(2), wait: () => life.end() }, "Not stopped."]),
          tools: [life.tool("work", "write")],
        }),
      ),
    async write(runner, life) {
      const run = runner.run("Go.", { session: "stopped-from-outside" });
      await life.live(run);
      await runner.signal("stopped-from-outside", { kind: "stop", payload: null }, { key: "stop-1" });
    },
  },
];

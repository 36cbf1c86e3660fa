import { describe, expect, it } from "vitest";
import { createAgent } from "../../src/index.ts";
import type { SingleRunner } from "../../src/agent/runner/runner.ts";
import { createHookRegistry } from "../../src/agent/index.ts";
import { faultsOf, normalisedLog } from "./normalised-log.ts";
import { openRunner, scriptByTurn, SESSION, type ScenarioServices } from "./scenario.ts";
import { decisionsOf, openHooked } from "./hooks-scenario.ts";
import { simulateLives } from "./simulated-lives.ts";

const OBSERVERS = ["subagent-stop", "session-end", "after-turn"];

describe("a run with hooks that stops for good at a step boundary", () => {
  it(
    "goes on from each of them: what hooks decided is never asked again and never lost, observers are told at least once [HK-10, HK-06, AG-26, AG-27]",
    { timeout: 60_000 },
    async () => {
      const undisturbed = simulateLives({ open: openHooked });
      const { passed, finished } = await undisturbed.live();
      expect(finished?.outcome.reason).toBe("complete");
      const kinds = (await normalisedLog(undisturbed.log, SESSION)).map((line) => (line as { readonly type?: string }).type);
      for (const place of ["pre-tool-use", "post-tool-use", "subagent-start", "subagent-stop", "session-start", "session-end"])
        expect(passed).toContain(`${place}/after#0`);
      const counts = new Map(OBSERVERS.map((name) => [name, undisturbed.effects.read().filter((act) => act.tool === name).length]));
      expect([...counts.values()]).toEqual([1, 1, 3]);

      const faults: string[] = [];
      for (const place of passed) {
        const lives = simulateLives({ open: openHooked });
        await lives.live(place);
        const before = await decisionsOf(lives.log);
        const { finished: ended } = await lives.live();
        const fault = (text: string): void => void faults.push(`${place}: ${text}`);
        if (ended?.outcome.reason !== "complete") fault(`it ended with ${ended?.outcome.reason}: ${ended?.outcome.error?.message}`);
        for (const text of await faultsOf(lives.log, SESSION)) fault(text);
        const after = await decisionsOf(lives.log);
        for (const [key, value] of before)
          if (JSON.stringify(after.get(key)) !== JSON.stringify(value)) fault(`${key} was ${JSON.stringify(value)}`);
        const acts = lives.effects.read();
        for (const { tool: name, key } of acts) if (name === "asked-again") fault(`${key} was asked again`);
        for (const name of OBSERVERS)
          if (acts.filter((act) => act.tool === name).length < (counts.get(name) ?? 0)) fault(`${name} was told too seldom`);
        if (new Set(acts.filter((act) => act.tool === "send").map(({ key }) => key)).size > 1) fault("send had two keys");
        if (acts.filter((act) => act.tool === "send").length > 1) fault("send was done twice");
        const types = (await normalisedLog(lives.log, SESSION)).map((line) => (line as { readonly type?: string }).type);
        if (JSON.stringify(types) !== JSON.stringify(kinds)) fault(`its log reads ${types.join(", ")}`);
        // Nobody told the model anything that the log does not say a hook decided.
        for (const [key, value] of after)
          if (
            key.endsWith("/hooks/post") &&
            !JSON.stringify(await normalisedLog(lives.log, SESSION)).includes((value as { readonly reason: string }).reason)
          )
            fault(`the model was not told ${JSON.stringify(value)}`);
      }
      expect(faults).toEqual([]);
    },
  );

  it("each time in a hook at its end, ends as it was to end, without it [HK-06]", { timeout: 60_000 }, async () => {
    const warnings: string[] = [];
    const open = (services: ScenarioServices): SingleRunner => {
      const { points } = services;
      const hooks = createHookRegistry()
        .onSessionEnd(() => points.pass("session-end"))
        .onNotification("*", () => points.pass("notified"));
      const model = scriptByTurn(points, "scripted/brief", () => ({ text: "Done." }));
      const runner = openRunner(services, () => createAgent({ name: "brief", model, hooks }));
      return {
        ...runner,
        async resume(...given) {
          const run = await runner.resume(...given);
          void (async () => {
            for await (const event of run) if (event.type === "status" && event.level === "warn") warnings.push(event.status);
          })();
          return run;
        },
      };
    };
    const lives = simulateLives({ open });
    for (let life = 0; life < 4; life++) expect((await lives.live("session-end#0")).finished).toBeUndefined();
    expect(warnings).toEqual([]);
    const { passed, finished } = await lives.live("notified#0");
    expect(passed).not.toContain("session-end#0");
    expect(finished?.outcome).toMatchObject({ reason: "complete", text: "Done." });
    expect(warnings).toEqual([expect.stringContaining("The process ended 4 times in what is done at the end of run")]);
    expect(await faultsOf(lives.log, SESSION)).toEqual([]);
  });

  it("again and again before its response, ends without one, and tells the hooks at its end [HK-06]", { timeout: 60_000 }, async () => {
    const lives = simulateLives({ open: openHooked });
    for (let life = 0; life < 4; life++) await lives.live("inferring#0");
    const { finished } = await lives.live();
    expect(finished?.outcome.reason).toBe("circuit-breaker");
    expect(lives.effects.read().filter(({ tool: name }) => name === "session-end")).toHaveLength(1);
  });
});

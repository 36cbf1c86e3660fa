// What a turn costs on each engine, beside the engine's bare step, one session alone, with a model that responds at once:
//   node --conditions=source packages/restate/scale/measure-turns.ts [--turns 200]
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRestateOrchestrator, serveRestate } from "@keelson/restate";
import { createEndpointHandler, object, type ObjectContext } from "@restatedev/restate-sdk";
import { sessionLog } from "@keelson/protocol";
import { createRunner, type Runner } from "keelson";
import { operatorInput } from "keelson/orchestration";
import { createMemoryEventLog, createSqliteEventLog } from "keelson/state";
import { errorsOnly } from "../test/support/errors-only.ts";
import { startRestateServer } from "../test/support/restate-server.ts";
import { createBee } from "./bee.ts";

const { values } = parseArgs({ options: { turns: { type: "string", default: "200" } } });
const turns = Number(values.turns);
const directory = mkdtempSync(join(tmpdir(), "keelson-turns-"));
mkdirSync(join(directory, "restate"));
const agent = createBee({ turns, delayMs: 0 });

async function perTurn(act: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await act();
  return Math.round(((performance.now() - begun) / turns) * 1000) / 1000;
}

async function advanceToEnd(runner: Runner): Promise<void> {
  await runner.begin("advanced", "Write.");
  while ((await runner.advance("advanced")).next.type === "now");
}

async function appendEachTurn(): Promise<void> {
  await using log = createSqliteEventLog(join(directory, "bare.db"));
  const text = "x".repeat(2000);
  for (let turn = 0; turn < turns; turn++)
    for (const type of ["response", "results"])
      await log.append(sessionLog("bare"), "any", [{ key: `${turn}/${type}`, type: "note", data: { text } }], { durability: "power" });
}

async function measureHere(name: string, open: () => ReturnType<typeof createSqliteEventLog> | ReturnType<typeof createMemoryEventLog>) {
  await using log = open();
  const runner = createRunner({ agent, log });
  await runner.run("Warm up.").outcome;
  return {
    [`${name}: run()`]: await perTurn(() => Promise.resolve(runner.run("Write.").outcome)),
    [`${name}: advance() for each turn`]: await perTurn(() => advanceToEnd(runner)),
  };
}

async function measureRestate() {
  const server = await startRestateServer(join(directory, "restate"));
  let stepsAreDone = (): void => {};
  const bare = object({
    name: "bare",
    handlers: {
      step: async (ctx: ObjectContext, left: number): Promise<void> => {
        await ctx.run("step", () => left);
        if (left > 1)
          ctx.objectSendClient<{ step: (ctx: ObjectContext, left: number) => Promise<void> }>({ name: "bare" }, ctx.key).step(left - 1);
        else stepsAreDone();
      },
    },
  });
  const http = createServer(createEndpointHandler({ services: [bare], logger: errorsOnly }));
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  await server.register(`http://127.0.0.1:${(http.address() as AddressInfo).port}`);
  await using log = createSqliteEventLog(join(directory, "sessions.db"));
  const orchestrator = createRestateOrchestrator({ ingress: server.ingress });
  const runner = createRunner({ agent, log, orchestrator });
  const endpoint = await serveRestate(runner, { port: 0, logger: errorsOnly });
  await server.register(endpoint.url);
  const steps = async (key: string): Promise<void> => {
    const done = new Promise<void>((resolve) => (stepsAreDone = resolve));
    await fetch(`${server.ingress}/bare/${key}/step/send`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: String(turns),
    });
    await done;
  };
  const run = async (): Promise<unknown> => orchestrator.attach(await orchestrator.start("bee", operatorInput("Write.", "user")));
  await steps("warm");
  await run();
  const figures = { "Restate: a bare step": await perTurn(() => steps("cold")), "Restate: a turn": await perTurn(run) };
  await endpoint.close();
  http.close();
  await server.kill();
  return figures;
}

const figures = {
  "SQLite: two bare appends on disk": await perTurn(appendEachTurn),
  ...(await measureHere("memory", () => createMemoryEventLog())),
  ...(await measureHere("SQLite", () => createSqliteEventLog(join(directory, "here.db")))),
  ...(await measureRestate()),
};
console.log(JSON.stringify(figures, undefined, 2));
rmSync(directory, { recursive: true, force: true });

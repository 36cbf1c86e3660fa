import type { EventLog } from "@keelson/protocol";
import type { Life } from "../life.ts";
import type { Scenario } from "../scenario.ts";

const pay = { toolCalls: [{ name: "pay", input: { to: "ada", cents: 1250 } }] };
const payAgain = { toolCalls: [{ name: "pay", input: { to: "ada", cents: 1250 }, id: "second" }] };

/** Turns that a process left open: where it died, and where it waits for people. */
export const OPEN_TURNS: readonly Scenario[] = [
  {
    name: "died-in-inference",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "payer",
          model: life.model([pay, { text: "Paid.", chunkSize: 2, wait: () => life.end() }]),
          tools: [life.tool("pay", "write")],
        }),
      ),
    async write(runner, life) {
      await life.live(runner.run("Pay Ada.", { session: "died-in-inference" }));
    },
  },
  {
    name: "died-in-write",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "payer",
          model: life.model([pay, "Paid."]),
          tools: [life.tool("pay", "write", { execute: async () => (await life.end(), "paid") })],
        }),
      ),
    async write(runner, life) {
      await life.live(runner.run("Pay Ada.", { session: "died-in-write" }));
    },
    async goOn(runner) {
      const unknown = await (await runner.resume("died-in-write")).outcome;
      for (const wait of unknown.waits ?? [])
        if (wait.type === "decision") await runner.approve(wait.token, { type: "supply", output: "paid, the bank says", by: "grace" });
      return [unknown, await (await runner.resume("died-in-write")).outcome];
    },
  },
  {
    name: "died-in-idempotent",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "payer",
          model: life.model([pay, "Paid."]),
          tools: [life.tool("pay", "idempotent", { execute: async () => (await life.end(), "paid") })],
        }),
      ),
    async write(runner, life) {
      await life.live(runner.run("Pay Ada.", { session: "died-in-idempotent" }));
    },
  },
  {
    name: "died-after-result",
    open: (life) =>
      life.runner(life.release.root.createAgent({ name: "payer", model: life.model([pay, "Paid."]), tools: [life.tool("pay", "write")] }), {
        log: endingAfter("tool-result", life),
      }),
    async write(runner, life) {
      await life.live(runner.run("Pay Ada.", { session: "died-after-result" }));
    },
  },
  {
    name: "waiting-approval",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "payer",
          model: life.model([pay, "Paid."]),
          tools: [life.tool("pay", "write", { risk: "high" })],
        }),
      ),
    async write(runner, life) {
      const outcome = await life.live(runner.run("Pay Ada.", { session: "waiting-approval" }));
      return { token: tokenOf(outcome) };
    },
    async goOn(runner, _life, { token }) {
      await runner.approve(String(token), { type: "allow", by: "grace" });
      return [await (await runner.resume("waiting-approval")).outcome];
    },
  },
  {
    name: "approved-meanwhile",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "payer",
          model: life.model([pay, "Paid."]),
          tools: [life.tool("pay", "write", { risk: "high" })],
        }),
      ),
    async write(runner, life) {
      const outcome = await life.live(runner.run("Pay Ada.", { session: "approved-meanwhile" }));
      await runner.approve(tokenOf(outcome), { type: "allow-modified", input: { to: "ada", cents: 1000 } });
    },
  },
  {
    name: "always-allowed",
    open: (life) =>
      life.runner(
        life.release.root.createAgent({
          name: "payer",
          model: life.model([pay, { ...payAgain, wait: () => life.end() }, "Paid twice."]),
          tools: [life.tool("pay", "write", { risk: "high" })],
          loopGuard: false,
        }),
      ),
    async write(runner, life) {
      const outcome = await life.live(runner.run("Pay Ada, twice.", { session: "always-allowed" }));
      await runner.approve(tokenOf(outcome), { type: "allow-always", by: "grace" });
      await life.live(await runner.resume("always-allowed"));
    },
  },
];

function tokenOf(outcome: Awaited<ReturnType<Life["live"]>>): string {
  const wait = outcome?.waits?.find(({ type }) => type === "approval");
  if (wait?.type !== "approval") throw new Error(`it ended with ${outcome?.reason}, and was to wait for an approval`);
  return wait.token;
}

/** The log of a life that ends once a record of this type is in it. */
function endingAfter(type: string, life: Life): EventLog {
  const { log } = life;
  return {
    ...(log.blobs && { blobs: log.blobs }),
    async append(id, expectedSeq, records, options) {
      const appended = await log.append(id, expectedSeq, records, options);
      if (records.some((record) => record.type === type)) await life.end();
      return appended;
    },
    read: (id, options) => log.read(id, options),
    head: (id) => log.head(id),
    list: (options) => log.list(options),
    delete: (id) => log.delete(id),
    acquire: (id, options) => log.acquire(id, options),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
}

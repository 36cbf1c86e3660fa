// A refund that a person must allow. The process that asked is killed; another one gets the answer and goes on with the run.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { InferRequest } from "@keelson/protocol";
import { scriptedModel } from "keelson/testing";

const [role, folder = await mkdtemp(join(tmpdir(), "keelson-approval-")), token = ""] = process.argv.slice(2);
// Asks for the refund, and answers once it has its result: whichever process it is asked in.
const turn = ({ messages }: InferRequest) =>
  messages.at(-1)?.role === "tool" ? "Order 7 is refunded." : { toolCalls: [{ name: "refund", input: { order: "7", cents: 99_900 } }] };
const model = scriptedModel([turn, turn]);

// #region desk
import { createAgent, createRunner, defineTool } from "keelson";
import { loadApprovalKeys } from "keelson/agent";
import { createSqliteBlobStore, createSqliteEventLog } from "keelson/state";
import { z } from "zod";

async function openDesk() {
  const refund = defineTool({
    name: "refund",
    description: "Refunds an order.",
    input: z.object({ order: z.string(), cents: z.number().int().positive() }),
    async execute({ order, cents }, { idempotencyKey }) {
      await appendFile(join(folder, "refunds.txt"), `${order} ${cents} ${idempotencyKey}\n`);
      return "refunded";
    },
  });
  const agent = createAgent({
    name: "refund-desk",
    model,
    tools: [refund],
    permissions: { rules: [{ pattern: "refund", behavior: "ask" }] },
  });
  const path = join(folder, "sessions.db");
  return createRunner({
    agent,
    log: createSqliteEventLog({ path }),
    blobs: createSqliteBlobStore({ path }),
    approvalKeys: await loadApprovalKeys(folder), // the same in every process
  });
}
// #endregion

async function begin(): Promise<void> {
  const runner = await openDesk();
  // #region ask
  const run = runner.run("Refund order 7.", { session: "order-7" });
  for await (const { request } of run.approvals()) {
    console.log(request.token); // shown to somebody, or sent to them
  }
  // #endregion
}

async function decide(): Promise<void> {
  // #region decide
  const runner = await openDesk();
  await runner.approve(token, { type: "allow-modified", input: { order: "7", cents: 1_250 }, by: "grace" });
  // #endregion
}

async function goOn(): Promise<void> {
  // #region recover
  const runner = await openDesk();
  const { runs, failed } = await runner.recover(); // when the service starts
  for (const run of runs) {
    const outcome = await run.outcome;
    if (outcome.reason === "complete") console.log(outcome.text);
    else for (const wait of outcome.waits ?? []) if (wait.type === "approval") console.log(wait.token);
  }
  for (const { session, error } of failed) console.error(session, error.message);
  // #endregion
}

/** Another process of this program. @returns its first line, and its exit */
async function start(as: string, given = "", kill = false): Promise<{ readonly line: string; readonly exit: string }> {
  const child = spawn(process.execPath, [...process.execArgv, import.meta.filename, as, folder, given], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  let complaint = "";
  child.stderr.on("data", (bytes: Buffer) => (complaint += String(bytes)));
  let line = "";
  for await (const printed of createInterface(child.stdout)) {
    line ||= printed;
    if (kill) child.kill("SIGKILL");
  }
  const [code, signal] = (await exited) as [number | null, string | null];
  return { line, exit: signal ?? (code === 0 ? "done" : complaint) };
}

switch (role) {
  case "begin":
    await begin();
    break;
  case "decide":
    await decide();
    break;
  case "go-on":
    await goOn();
    break;
  default: {
    const asked = await start("begin", "", true);
    assert.equal(asked.exit, "SIGKILL");
    // Nobody has answered: the run waits on, with the same question.
    assert.deepEqual(await start("go-on"), { line: asked.line, exit: "done" });
    assert.equal((await start("decide", asked.line)).exit, "done");
    assert.deepEqual(await start("go-on"), { line: "Order 7 is refunded.", exit: "done" });
    assert.match((await start("decide", asked.line)).exit, /used already/);
    assert.deepEqual(await start("go-on"), { line: "", exit: "done" });
    const refunds = (await readFile(join(folder, "refunds.txt"), "utf8")).trim().split("\n");
    assert.equal(refunds.length, 1);
    assert.match(refunds[0] ?? "", /^7 1250 k_/);
    await rm(folder, { recursive: true });
    console.log("approval-after-restart: asked in a process that was killed, answered in another, refunded once by a third");
  }
}

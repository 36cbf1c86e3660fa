import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { operatorInput } from "keelson/orchestration";
import { describe, expect, it } from "vitest";
import { startApplication } from "./support/application.ts";
import { freePorts } from "./support/free-ports.ts";
import { isWithoutServer, needsServer } from "./support/server-binary.ts";
import { startWorker } from "./support/worker-process.ts";

describe.skipIf(isWithoutServer)(`the programs of the README${needsServer}`, () => {
  it("start a run in one process and work it in another, which ends in peace [OR-10]", { timeout: 60_000 }, async () => {
    await using application = await startApplication();
    const { server, directory } = application;
    const [port] = await freePorts(1);
    await using worker = await startWorker("../readme/worker.ts", [directory, server.ingress, String(port)]);
    await server.register(worker.url);
    const client = join(import.meta.dirname, "readme/client.ts");
    const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", client, server.ingress]);
    expect(JSON.parse(stdout)).toMatchObject([{ type: "text", text: "It is on its way." }]);
    await worker.kill("SIGTERM");
    expect(await worker.gone).toBe("0");
  });
});

describe.skipIf(isWithoutServer)(`the example of one agent on every engine${needsServer}`, () => {
  it("is worked by a worker of Restate [OR-10]", { timeout: 60_000 }, async () => {
    await using application = await startApplication();
    const { server, directory, orchestrator } = application;
    const [port] = await freePorts(1);
    await using worker = await startWorker("../../../../examples/one-agent/on-restate.ts", [server.ingress, String(port)], directory);
    await server.register(worker.url);
    const { message } = await orchestrator.attach(await orchestrator.start("clerk", operatorInput("Where is order 7?", "user")));
    expect(message).toMatchObject([{ type: "text", text: "It is on its way." }]);
  });
});

describe.skipIf(isWithoutServer)(`the simulation of many sessions${needsServer}`, () => {
  it("drives all of them to their ends through a worker that is killed", { timeout: 60_000 }, async () => {
    // The worker reports every 250 ms: with shorter turns all of them could end before the kill, and none would be left for the next worker.
    const script = join(import.meta.dirname, "../scale/drive-sessions.ts");
    const args = ["--conditions=source", script, "--sessions", "20", "--turns", "3", "--delay-ms", "400", "--kill"];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toMatchObject({ sessions: 20, ended: 20, journalFaults: 0, backAfterKillMs: expect.any(Number) });
  });
});

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
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

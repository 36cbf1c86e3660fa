import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { withMachineLock } from "./machine-lock.ts";
import { prepareMounts } from "./sandbox-mounts.ts";

const onLinux = describe.skipIf(process.platform !== "linux");
const moduleUrl = new URL("./machine-lock.ts", import.meta.url).href;

/** A process that takes the lock, says so, and holds it until it is killed. */
async function holder(name: string): Promise<{ kill(): Promise<void> }> {
  const script = `import { withMachineLock } from ${JSON.stringify(moduleUrl)};
    await withMachineLock(${JSON.stringify(name)}, () => new Promise(() => { console.log("held"); setInterval(() => {}, 1000); }));`;
  const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const closed = once(child, "close");
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return {
    async kill() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

onLinux("a lock of this machine", () => {
  it("is held by one at a time, those of one process included, and let go when its work fails", async () => {
    const name = randomUUID();
    const order: string[] = [];
    const work = (id: string) =>
      withMachineLock(name, async () => {
        order.push(`${id} begins`);
        await new Promise(setImmediate);
        order.push(`${id} ends`);
        if (id === "b") throw new Error("failed");
      });
    await Promise.allSettled([work("a"), work("b"), work("c")]);
    expect(order).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  it("is waited for while another process has it, and is free once that is killed", { timeout: 30_000 }, async () => {
    const name = randomUUID();
    const other = await holder(name);
    let isMine = false;
    const mine = withMachineLock(name, async () => void (isMine = true));
    // Somebody who waits as we do is let in before us or after us, and never beside the holder.
    const witness = connect({ path: `\0${name}-${process.getuid?.() ?? ""}` }).on("error", () => {});
    await once(witness, "connect");
    expect(isMine).toBe(false);
    await other.kill();
    await mine;
    expect(isMine).toBe(true);
  });

  it("keeps what two processes put into one workspace apart", { timeout: 30_000 }, async () => {
    const workspace = realpathSync(mkdtempSync(join(tmpdir(), "keelson-lock-")));
    onTestFinished(() => rmSync(workspace, { recursive: true, force: true }));
    const asked = Promise.withResolvers<string>();
    const other = await listening(`\0keelson-sandbox-placeholders-${process.getuid?.() ?? ""}`, () => asked.resolve("waits"));
    const planned = prepareMounts({}, workspace).then(async (mounts) => {
      await mounts[Symbol.asyncDispose]();
      return "planned";
    });
    expect(await Promise.race([asked.promise, planned])).toBe("waits");
    other.release();
    expect(await planned).toBe("planned");
  });
});

/** Another process, as far as the lock can tell. */
async function listening(address: string, onAsked: () => void): Promise<{ release(): void }> {
  const sockets: Socket[] = [];
  const attempt = (): Promise<Server | undefined> =>
    new Promise((resolve) => {
      const server = createServer((socket) => {
        sockets.push(socket.on("error", () => {}));
        onAsked();
      });
      server.once("error", () => resolve(undefined)).listen({ path: address }, () => resolve(server));
    });
  let server = await attempt();
  while (server === undefined) server = await attempt();
  const listener = server;
  return {
    release() {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import type { EnvironmentSpec } from "@keelson/protocol";
import { createSandboxEnvironment, type SandboxEnvironmentOptions } from "keelson/environment";
import { mockOperator } from "keelson/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createControlGroup } from "../../../src/environment/sandbox/control-group.ts";
import { describeWithBubblewrap } from "../../sandbox/with-bubblewrap.ts";
import { alone, failureOf, run, say, sayEach, served, textOf } from "./run-served.ts";

let base: string;
let workspace: string;
beforeEach(async () => {
  // Not in /tmp, which is another one in a sandbox.
  base = await realpath(await mkdtemp(join(process.env["KEELSON_PROBE_FOLDER"] ?? homedir(), ".keelson-operators-")));
  workspace = join(base, "work");
  await mkdir(join(workspace, ".git/hooks"), { recursive: true });
  await writeFile(join(base, "outside"), "canary");
});
afterEach(() => rm(base, { recursive: true, force: true }));

const group = await createControlGroup({ processes: 10, memory: 1024 ** 3 });
const boundsMemory = group?.boundsMemory === true;
await group?.remove();

const environment = (more: Partial<SandboxEnvironmentOptions> = {}) => createSandboxEnvironment({ workspace, module: served, ...more });

describeWithBubblewrap("an operator in the sandbox environment", () => {
  it("has the execution context of its run, over messages that what it prints does not disturb [EN-01]", async () => {
    const sandboxed = environment();
    const file = join(workspace, "steps");
    const [told, steps, printed] = await sayEach(sandboxed, ["tell", `steps|${file}`, 'print|{"type":"output","output":{}}']);
    expect(told).toBe("r_1 in s, of r_0, until 4000000000000");
    expect(JSON.parse(steps ?? "")).toEqual(["one", "two", "1/true", "four is too many"]);
    expect(printed).toBe("printed");
    expect(await readFile(file, "utf8")).toBe("one\ntwo\n");
    const committing = run(sandboxed, "commit");
    await committing.output;
    expect(committing.events).toMatchObject([{ type: "status" }, { type: "suggestion", suggestions: ["said"] }]);
    const child = run(sandboxed, "child|helper", alone, ({ input }) => mockOperator(["helped"]).execute(input, undefined as never));
    expect(textOf(await child.output)).toContain("helped");
    await expect(run(sandboxed, "suspend").output).rejects.toMatchObject({ name: "Suspension", reason: "awaiting-signal" });
  });

  it("is held to the sandbox's bounds: writable roots, denied paths, hooks, no network, a clean environment [AG-21] [EN-02]", async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
    await once(server, "listening");
    process.env["KEELSON_TEST_API_KEY"] = "inherited";
    try {
      const port = (server.address() as AddressInfo).port;
      const spec: EnvironmentSpec = {
        ...alone,
        sandboxes: [{ enabled: true, deniedCommands: [], filesystem: { allowedRoots: ["."], deniedPaths: [join(base, "outside")] } }],
      };
      const deeds = [
        `write|${workspace}/file`,
        `write|${base}/new`,
        `write|${workspace}/.git/hooks/pre-commit`,
        `connect|${port}`,
        "variable|KEELSON_TEST_API_KEY",
        `read|${base}/outside`,
        "shell|env; echo x >&7 && echo linked",
      ];
      const said = await sayEach(environment(), deeds, spec);
      expect(said.slice(0, 5)).toEqual(["done", "EROFS", "EROFS", "ECONNREFUSED", "none"]);
      expect(said[5]).not.toContain("canary");
      expect(said[6]).not.toMatch(/KEELSON|linked/);
      expect(existsSync(join(base, "new"))).toBe(false);
    } finally {
      delete process.env["KEELSON_TEST_API_KEY"];
      server.close();
    }
  });

  it("gets credentials as variables and files, which are gone with it [EN-02, EN-03]", async () => {
    const secrets = { resolve: async (reference: string) => `value of ${reference}` };
    const variable = { name: "token", reference: "a", injection: { type: "env-var", variable: "TOKEN" } } as const;
    const file = { name: "file", reference: "b", injection: { type: "file", path: "keys/one" } } as const;
    const spec = { ...alone, credentials: [variable, file] };
    const sandboxed = environment({ secrets });
    expect(await say(sandboxed, "variable|TOKEN", spec)).toBe("value of a");
    expect(await say(sandboxed, "file|keys/one", spec)).toBe("value of b");
    expect(existsSync(await say(sandboxed, "folder", spec))).toBe(false);
    expect(await failureOf(run(environment(), "tell", spec).output)).toMatchObject({ kind: "credential-failed" });
  });

  it("is an error here where it fails, crashes, holds too much or is broken [EN-05]", async () => {
    const sandboxed = environment();
    expect(await failureOf(run(sandboxed, "fail").output)).toMatchObject({
      kind: "operator-error",
      operator: { kind: "other", message: "it is out of range" },
    });
    for (const [deed, how] of [
      ["exit|3", /ended with exit code 3 .*\n?these were my last words/s],
      ["die", /exit code 137/],
    ] as const)
      expect(await failureOf(run(sandboxed, deed).output)).toMatchObject({
        kind: "operator-error",
        message: expect.stringMatching(how),
      });
    expect(await failureOf(run(environment({ args: ["--broken"] }), "tell").output)).toMatchObject({
      kind: "provision-failed",
      message: expect.stringMatching(/this module does not load/),
    });
  });

  it("is told that its run is aborted, and ended where it doesn't heed that", async () => {
    const heeding = run(environment({ killGraceMs: 20_000 }), "wait");
    const deaf = run(environment({ killGraceMs: 200 }), "sleep");
    await Promise.all([heeding.begun, deaf.begun]);
    for (const { abort } of [heeding, deaf]) abort();
    expect(textOf(await heeding.output)).toBe("it was aborted");
    expect(await failureOf(deaf.output)).toMatchObject({ kind: "cancelled" });
  });

  it("is refused where what is asked for can't be held, before it runs [EN-03]", async () => {
    const sandboxed = environment();
    const refused: readonly Partial<EnvironmentSpec>[] = [
      { isolation: [{ type: "gvisor" }] },
      { credentials: [{ name: "key", reference: "a", injection: { type: "sidecar" } }] },
      { sandboxes: [{ enabled: true, allowedCommands: ["git"], deniedCommands: [] }] },
      { resources: { memory: "some" } },
    ];
    for (const part of refused)
      expect(await failureOf(run(sandboxed, "tell", { ...alone, ...part }).output), JSON.stringify(part)).toMatchObject({
        kind: "provision-failed",
      });
    for (const options of [{ module: undefined }, { workspace: join(base, "missing") }, { executor: { bubblewrap: join(base, "bwrap") } }])
      expect(await failureOf(run(environment(options), "tell").output)).toMatchObject({ kind: "provision-failed" });
  });

  it.skipIf(!boundsMemory)("holds no more memory than it may, where a control group can bound memory [EN-02]", async () => {
    const spec = { ...alone, resources: { memory: "300Mi" } };
    expect(await failureOf(run(environment(), "hold", spec).output)).toMatchObject({ kind: "resource-exceeded", resource: "memory" });
  });
});

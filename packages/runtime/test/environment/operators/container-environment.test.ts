import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EnvironmentSpec } from "@keelson/protocol";
import { createContainerEnvironment, type ContainerEnvironmentOptions } from "keelson/environment";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeDocker, startFakeDocker } from "./fake-docker.ts";
import { failureOf, run, say, served, textOf } from "./run-served.ts";

const contained: EnvironmentSpec = { isolation: [{ type: "container", image: "node:24" }], credentials: [] };

let docker: FakeDocker;
let workspace: string;
beforeEach(async () => {
  docker = await startFakeDocker();
  workspace = mkdtempSync(join(tmpdir(), "keelson-container-"));
});
afterEach(async () => {
  await docker[Symbol.asyncDispose]();
  rmSync(workspace, { recursive: true, force: true });
});

const environment = (more: Partial<ContainerEnvironmentOptions> = {}) =>
  createContainerEnvironment({ module: served, workspace, host: docker.host, ...more });

describe("the container environment, on an imitation of the Engine API", () => {
  it("runs an operator in a container of its own, over messages that what it prints does not disturb, and removes it [EN-01]", async () => {
    expect(await say(environment(), "tell", contained)).toBe("r_1 in s, of r_0, until 4000000000000");
    expect(docker.calls).toEqual([
      "GET /containers/json",
      "POST /containers/create",
      "POST /containers/*/attach",
      "POST /containers/*/wait",
      "POST /containers/*/start",
      "DELETE /containers/*",
    ]);
    expect(docker.containers.size).toBe(0);
    expect(await say(environment(), 'print|{"type":"output","output":{}}', contained)).toBe("printed");
    const steps = await say(environment(), `steps|${workspace}/steps`, contained);
    expect(JSON.parse(steps)).toEqual(["one", "two", "1/true", "four is too many"]);
  });

  it("asks the daemon for what the spec says: image, mounts, limits, network, and no privileges [EN-02]", async () => {
    const spec: EnvironmentSpec = { ...contained, resources: { memory: "512Mi", cpu: "1.5" } };
    await say(environment({ mounts: [{ source: "/srv/data" }], user: "1000:1000" }), "tell", spec);
    await say(environment({ image: "own" }), "tell", { isolation: [], credentials: [], network: { default: "allow", rules: [] } });
    expect(docker.configs[0]).toMatchObject({
      Image: "node:24",
      WorkingDir: workspace,
      User: "1000:1000",
      Labels: { "keelson.run": "r_1" },
      HostConfig: {
        Mounts: [
          { Type: "bind", Source: workspace, Target: workspace, ReadOnly: false },
          { Type: "bind", Source: "/srv/data", Target: "/srv/data", ReadOnly: true },
        ],
        NetworkMode: "none",
        CapDrop: ["ALL"],
        SecurityOpt: ["no-new-privileges"],
        Memory: 512 * 1024 ** 2,
        MemorySwap: 512 * 1024 ** 2,
        NanoCpus: 1_500_000_000,
      },
    });
    expect(docker.configs[0]?.HostConfig).not.toHaveProperty("Runtime");
    expect(docker.configs[1]).toMatchObject({ Image: "own", HostConfig: { NetworkMode: "bridge" } });
  });

  it("gives credentials as variables and files, which are gone with it [EN-02, EN-03]", async () => {
    const secrets = { resolve: async (reference: string) => `value of ${reference}` };
    const variable = { name: "token", reference: "a", injection: { type: "env-var", variable: "TOKEN" } } as const;
    const file = { name: "file", reference: "b", injection: { type: "file", path: "keys/one" } } as const;
    const spec = { ...contained, credentials: [variable, file] };
    expect(await say(environment({ secrets }), "variable|TOKEN", spec)).toBe("value of a");
    expect(await say(environment({ secrets }), "file|keys/one", spec)).toBe("value of b");
    const folder = await say(environment({ secrets }), "folder", spec);
    expect(docker.configs[2]?.HostConfig["Mounts"]).toContainEqual({ Type: "bind", Source: folder, Target: folder, ReadOnly: true });
    expect(existsSync(folder)).toBe(false);
    expect(await failureOf(run(environment(), "tell", spec).output)).toMatchObject({ kind: "credential-failed" });
  });

  it("makes an error of what ends the container, and leaves none [EN-05]", async () => {
    expect(await failureOf(run(environment(), "fail", contained).output)).toMatchObject({
      kind: "operator-error",
      operator: { kind: "other", message: "it is out of range" },
    });
    expect(await failureOf(run(environment(), "exit|3", contained).output)).toMatchObject({
      kind: "operator-error",
      message: expect.stringMatching(/ended with exit code 3 .*\n?these were my last words/s),
    });
    expect(await failureOf(run(environment({ args: ["--broken"] }), "tell", contained).output)).toMatchObject({
      kind: "provision-failed",
      message: expect.stringMatching(/this module does not load/),
    });
    docker.isOutOfMemory = true;
    expect(await failureOf(run(environment(), "die", contained).output)).toMatchObject({ kind: "resource-exceeded", resource: "memory" });
    expect(docker.containers.size).toBe(0);
  });

  it("removes the container of a run that is aborted, whether it heeds that or not", async () => {
    const heeding = run(environment({ killGraceMs: 20_000 }), "wait", contained);
    const deaf = run(environment({ killGraceMs: 200 }), "sleep", contained);
    await Promise.all([heeding.begun, deaf.begun]);
    for (const { abort } of [heeding, deaf]) abort();
    expect(textOf(await heeding.output)).toBe("it was aborted");
    expect(await failureOf(deaf.output)).toMatchObject({ kind: "cancelled" });
    expect(docker.containers.size).toBe(0);
  });

  it("takes away what processes of this machine left that are gone, and nothing of others", async () => {
    await say(environment(), "tell", contained);
    const owner = docker.configs[0]?.Labels["keelson.owner"] ?? "";
    const left = (pid: number | string, of = owner) => ({ config: { Labels: { "keelson.owner": of.replace(/\d+$/, String(pid)) } } });
    docker.containers.set("gone", left(99_999_999));
    docker.containers.set("alive", left(process.ppid));
    docker.containers.set("elsewhere", left(99_999_999, `elsewhere/${owner}`));
    await say(environment(), "tell", contained);
    expect([...docker.containers.keys()]).toEqual(["alive", "elsewhere"]);
  });

  it("refuses what a container can't hold, and where none can be made, with the reason [EN-03]", async () => {
    const refused: readonly (readonly [Partial<EnvironmentSpec>, RegExp, Partial<ContainerEnvironmentOptions>?])[] = [
      [{ isolation: [{ type: "gvisor" }, ...contained.isolation] }, /no runtime "runsc"/],
      [{ isolation: [{ type: "micro-vm" }] }, /micro-vm/],
      [{ isolation: [] }, /one image/],
      [{ isolation: [...contained.isolation, { type: "container", image: "other" }] }, /one image/],
      [{ network: { default: "deny", rules: [{ destination: "example.org", action: "allow" }] } }, /no list of hosts/],
      [{ network: { default: "allow", rules: [{ destination: "example.org", action: "deny" }] } }, /no list of hosts/],
      [{ resources: { gpu: "1" } }, /gpu/],
      [{ credentials: [{ name: "key", reference: "a", injection: { type: "sidecar" } }] }, /sidecar/],
      [{ sandboxes: [{ enabled: true, deniedCommands: [] }] }, /sandbox/],
      [{ isolation: [{ type: "container", image: "missing" }] }, /No such image/],
      [{}, /daemon at unix:\/\/\/nowhere/, { host: "unix:///nowhere" }],
      [{}, /unix:\/\/ and tcp:\/\//, { host: "ssh://somebody@example.org" }],
    ];
    for (const [part, message, options] of refused)
      expect(await failureOf(run(environment(options), "tell", { ...contained, ...part }).output), JSON.stringify(part)).toMatchObject({
        kind: "provision-failed",
        message: expect.stringMatching(message),
      });
    docker.runtimes["runsc"] = {};
    expect(await say(environment(), "tell", { ...contained, isolation: [{ type: "gvisor" }, ...contained.isolation] })).toContain("r_1");
    expect(docker.configs.at(-1)?.HostConfig["Runtime"]).toBe("runsc");
    expect(() => createContainerEnvironment({ module: served, workspace, imgae: "x" } as never)).toThrow(/has no option "imgae"/);
  });
});

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OperatorError, type EnvironmentSpec, type Operator, type OperatorOutput, type RunId, type SessionId } from "@keelson/protocol";
import { createLocalEnvironment, createMemoryVfs, createProcessEnvironment } from "keelson/environment";
import { createLocalOrchestrator, operatorInput } from "keelson/orchestration";
import { mockOperator } from "keelson/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { alone, failureOf, open, run, say, served, textOf } from "./run-served.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keelson-environments-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the local environment", () => {
  it("passes an operator through as it is [EN-04]", async () => {
    const operator = mockOperator(["done"]);
    expect(await say(createLocalEnvironment(operator), "go", open)).toBe("done");
  });

  it("gives what the operator failed with as its own error [EN-05]", async () => {
    const failing: Operator = { execute: () => Promise.reject(new OperatorError({ kind: "non-retryable", message: "no" })) };
    expect(await failureOf(run(createLocalEnvironment(failing), "go", open).output)).toMatchObject({
      kind: "operator-error",
      operator: { kind: "non-retryable", message: "no" },
    });
  });

  it("refuses a spec that asks for more than nothing, before the operator runs [EN-03]", async () => {
    const operator = mockOperator([]);
    const environment = createLocalEnvironment(operator);
    const credential = { name: "key", reference: "env:KEY", injection: { type: "env-var", variable: "KEY" } } as const;
    for (const spec of [
      alone,
      { ...open, resources: { memory: "1Gi" } },
      { ...open, credentials: [credential] },
      { ...open, network: { default: "deny", rules: [] } },
    ] satisfies EnvironmentSpec[])
      expect(await failureOf(run(environment, "go", spec).output)).toMatchObject({ kind: "provision-failed" });
    expect(await say(createLocalEnvironment(mockOperator(["done"])), "go", { ...open, network: { default: "allow", rules: [] } })).toBe(
      "done",
    );
  });
});

describe("the process environment", { timeout: 30_000 }, () => {
  const environment = createProcessEnvironment({ module: served, killGraceMs: 300 });

  it("runs an operator in a process of its own, with what its run knows of itself [EN-01]", async () => {
    expect(await say(environment, "echo|hello")).toBe("hello");
    expect(await say(environment, "tell")).toBe("r_1 in s, of r_0, until 4000000000000");
  });

  it("makes JSON of an output with a bigint or a date, since its work is done", async () => {
    const { message } = await run(environment, "bigint").output;
    expect(message).toEqual([{ type: "text", text: ["exact", "1917043659912705296", "1970-01-01T00:00:00.000Z"] }]);
  });

  it("does for it there what an execution context does: steps, decisions, races, commits, events", async () => {
    const file = join(folder, "steps");
    expect(JSON.parse(await say(environment, `steps|${file}`))).toEqual(["one", "two", "1/true", "four is too many"]);
    expect(await readFile(file, "utf8")).toBe("one\ntwo\n");
    expect(await say(environment, "decide")).toBe("heads");
    expect(await say(environment, "race")).toBe("1");
    const committing = run(environment, "commit");
    await committing.output;
    expect(committing.events).toMatchObject([
      { type: "status", status: "on its way" },
      { type: "suggestion", suggestions: ["said"] },
    ]);
  });

  it("starts children where its run is", async () => {
    const started: string[] = [];
    const child = run(environment, "child|helper", alone, async ({ operator, input }) => {
      started.push(operator);
      return mockOperator(["helped"]).execute(input, undefined as never);
    });
    expect(textOf(await child.output)).toContain("helped");
    expect(started).toEqual(["helper"]);
  });

  it("suspends the run where the operator does", async () => {
    await expect(run(environment, "suspend").output).rejects.toMatchObject({ name: "Suspension", reason: "awaiting-signal" });
  });

  it("gives what the operator threw, and what ended its process, as an error of its own kind [EN-05]", async () => {
    expect(await failureOf(run(environment, "fail").output)).toMatchObject({
      kind: "operator-error",
      operator: { kind: "other", message: "it is out of range" },
    });
    expect(await failureOf(run(environment, "exit|3").output)).toMatchObject({
      kind: "operator-error",
      message: expect.stringMatching(/ended with exit code 3 .*\n?these were my last words/s),
    });
    expect(await failureOf(run(environment, "die").output)).toMatchObject({
      kind: "operator-error",
      message: expect.stringMatching(/by SIGKILL/),
    });
  });

  it("bounds what the operator holds in memory [EN-02]", async () => {
    const spec = { ...alone, resources: { memory: "32Mi" } };
    expect(await failureOf(run(environment, "hold", spec).output)).toMatchObject({ kind: "resource-exceeded", resource: "memory" });
    expect(await say(environment, "echo|small", spec)).toBe("small");
    expect(await failureOf(run(environment, "echo|x", { ...alone, resources: { memory: "some" } }).output)).toMatchObject({
      kind: "provision-failed",
      message: expect.stringMatching(/"some"/),
    });
  });

  it("tells the operator that its run is aborted, and ends its process where it doesn't heed that", async () => {
    const heeding = run(createProcessEnvironment({ module: served, killGraceMs: 20_000 }), "wait");
    const deaf = run(environment, "sleep");
    const early = run(environment, "echo|x");
    early.abort();
    await Promise.all([heeding.begun, deaf.begun]);
    for (const { abort } of [heeding, deaf]) abort();
    expect(textOf(await heeding.output)).toBe("it was aborted");
    expect(await failureOf(deaf.output)).toMatchObject({ kind: "cancelled" });
    expect(await failureOf(early.output)).toMatchObject({ kind: "cancelled" });
  });

  it("injects credentials as variables and files, and passes on none of those of this process [EN-02, EN-03]", async () => {
    process.env["KEELSON_TEST_API_KEY"] = "inherited";
    const secrets = {
      async resolve(reference: string) {
        if (reference === "missing") throw new Error("there is no such secret");
        return `value of ${reference}`;
      },
    };
    const injecting = createProcessEnvironment({ module: served, secrets });
    const variable = { name: "token", reference: "a", injection: { type: "env-var", variable: "TOKEN" } } as const;
    const file = { name: "file", reference: "b", injection: { type: "file", path: "keys/one" } } as const;
    const spec = { ...alone, credentials: [variable, file] };
    expect(await say(injecting, "variable|TOKEN", spec)).toBe("value of a");
    expect(await say(injecting, "file|keys/one", spec)).toBe("value of b");
    expect(await say(injecting, "variable|KEELSON_TEST_API_KEY", spec)).toBe("none");
    expect(existsSync(await say(injecting, "folder", spec))).toBe(false);
    delete process.env["KEELSON_TEST_API_KEY"];

    const missing = { ...variable, reference: "missing" };
    for (const [tried, credential, problem] of [
      [injecting, missing, /"token" \(missing\) was not injected: there is no such secret/],
      [environment, variable, /without `secrets`/],
      [injecting, { ...file, injection: { type: "file", path: "../out" } as const }, /outside of the folder/],
    ] as const)
      expect(await failureOf(run(tried, "echo|x", { ...alone, credentials: [credential] }).output)).toMatchObject({
        kind: "credential-failed",
        message: expect.stringMatching(problem),
      });
  });

  it("refuses what a process can't be, and a module that can't be started, with the reason [EN-03]", async () => {
    const sidecar = { name: "key", reference: "a", injection: { type: "sidecar" } } as const;
    const impossible: readonly Partial<EnvironmentSpec>[] = [
      { isolation: [{ type: "gvisor" }] },
      { isolation: [{ type: "micro-vm" }] },
      { isolation: [{ type: "wasm" }] },
      { isolation: [{ type: "container" }] },
      { isolation: [{ type: "custom", name: "moon" }] },
      { resources: { gpu: "1" } },
      { credentials: [sidecar] },
      { network: { default: "allow", rules: [{ destination: "example.org", action: "deny" }] } },
    ];
    for (const part of impossible)
      expect(await failureOf(run(environment, "echo|x", { ...alone, ...part }).output)).toMatchObject({ kind: "provision-failed" });
    const broken = createProcessEnvironment({ module: served, args: ["--broken"] });
    expect(await failureOf(run(broken, "echo|x").output)).toMatchObject({
      kind: "provision-failed",
      message: expect.stringMatching(/this module does not load/),
    });
    expect(() => createProcessEnvironment({ module: served, memory: 3 } as never)).toThrow(/has no option "memory"/);
  });

  it("is one operator among others for an orchestrator", async () => {
    const operator: Operator = { execute: (input, context) => environment.run(input, alone, context) };
    const orchestrator = createLocalOrchestrator({ operators: { served: operator } });
    const outputs = await orchestrator.dispatchMany(
      ["echo|a", "die", "echo|c"].map((message) => ({ operator: "served", input: operatorInput(message, "task") })),
    );
    expect(outputs.map((result) => ("output" in result ? textOf(result.output as OperatorOutput) : "failed"))).toEqual([
      "a",
      "failed",
      "c",
    ]);
  });
});

describe("what environments give the tools of a run", () => {
  const user = { runId: "r_1" as RunId, session: "s" as SessionId, signal: new AbortController().signal };

  it("is, locally, what they were made with, and nothing where that is nothing [EN-04]", async () => {
    const files = createMemoryVfs();
    const opened = await createLocalEnvironment(undefined, { files }).open?.(open, user);
    expect(opened?.files).toBe(files);
    expect(opened?.exec).toBeUndefined();
    for (const [environment, spec] of [
      [createLocalEnvironment(mockOperator([])), open],
      [createLocalEnvironment(undefined, { files }), alone],
      [createLocalEnvironment(undefined, { files }), { ...open, sandboxes: [{ enabled: true, deniedCommands: [] }] }],
    ] as const)
      expect(await failureOf(environment.open?.(spec, user) ?? Promise.resolve())).toMatchObject({ kind: "provision-failed" });
    expect(await failureOf(run(createLocalEnvironment(undefined, { files }), "go", open).output)).toMatchObject({
      kind: "provision-failed",
    });
  });

  it("is, in processes, the files of their folder and programs that get credentials [EN-02, EN-03]", async () => {
    await writeFile(join(folder, "a.txt"), "text");
    const secrets = { resolve: async (reference: string) => `value-of-${reference}` };
    const credential = { name: "token", reference: "a", injection: { type: "env-var", variable: "TOKEN" } } as const;
    const environment = createProcessEnvironment({ cwd: folder, secrets });
    await using opened = await environment.open?.({ ...alone, credentials: [credential] }, user);
    expect(await opened?.exec?.execute({ command: 'test "$TOKEN" = value-of-a && cat a.txt && echo " $TOKEN"' })).toMatchObject({
      exitCode: 0,
      stdout: "text [redacted]\n",
    });
    expect((await opened?.files?.ls("."))?.map(({ name }) => name)).toContain("a.txt");
    for (const part of [
      { resources: { memory: "1Gi" } },
      { sandboxes: [{ enabled: true, deniedCommands: [] }] },
      { isolation: [{ type: "gvisor" }] },
      { network: { default: "deny", rules: [] } },
    ] satisfies Partial<EnvironmentSpec>[])
      expect(await failureOf(environment.open?.({ ...alone, ...part }, user) ?? Promise.resolve())).toMatchObject({
        kind: "provision-failed",
      });
    const unresolved = createProcessEnvironment({ cwd: folder }).open?.({ ...alone, credentials: [credential] }, user);
    expect(await failureOf(unresolved ?? Promise.resolve())).toMatchObject({ kind: "credential-failed" });
    expect(await failureOf(run(environment, "echo|x").output)).toMatchObject({ kind: "provision-failed" });
  });
});

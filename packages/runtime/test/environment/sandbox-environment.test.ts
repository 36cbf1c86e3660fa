import { mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { createAgent, defineTool, EnvironmentError, type EnvironmentSpec, type RunId, type SessionId } from "keelson";
import { createSandboxEnvironment, type SandboxEnvironmentOptions } from "keelson/environment";
import { systemClock } from "keelson/session";
import { scriptedModel } from "keelson/testing";
import { VfsError, type OpenEnvironment, type SandboxConfig } from "@keelson/protocol";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ofType, runnerOf, watch } from "../agent/support.ts";
import { describeWithBubblewrap } from "../sandbox/with-bubblewrap.ts";

const nothing: EnvironmentSpec = { isolation: [], credentials: [] };
const sandbox = (more: Partial<SandboxConfig> = {}): SandboxConfig => ({ enabled: true, deniedCommands: [], ...more });

let base: string;
let workspace: string;
let opened: OpenEnvironment[] = [];
beforeEach(async () => {
  // Not in /tmp, which is another one in a sandbox.
  base = await realpath(await mkdtemp(join(process.env["KEELSON_PROBE_FOLDER"] ?? homedir(), ".keelson-environment-")));
  workspace = join(base, "work");
  for (const folder of ["work/.git/hooks", "work/src", "work/secret", "work/nested/.git", "other"])
    await mkdir(join(base, folder), { recursive: true });
  for (const file of ["work/src/a.ts", "work/secret/key", "work/AGENTS.md", "work/.git/config", "other/file"])
    await writeFile(join(base, file), "canary\n");
});
afterEach(async () => {
  for (const environment of opened) await environment[Symbol.asyncDispose]();
  opened = [];
  await rm(base, { recursive: true, force: true });
});

async function open(spec: EnvironmentSpec = nothing, options: Partial<SandboxEnvironmentOptions> = {}) {
  const environment = createSandboxEnvironment({ workspace, ...options });
  const user = { runId: "r_1" as RunId, session: "s" as SessionId, signal: new AbortController().signal };
  const one = await environment.open?.(spec, user);
  if (one?.files === undefined || one.exec === undefined) throw new Error("it has no files or no programs");
  opened.push(one);
  const { files, exec } = one;
  const sh = async (command: string): Promise<string> => {
    const { stdout, stderr, exitCode } = await exec.execute({ command });
    return exitCode === 0 ? stdout.trim() : `failed: ${stderr.trim()}`;
  };
  const can = async (work: Promise<unknown>): Promise<true | string> =>
    work.then(
      () => true as const,
      (error: unknown) => (VfsError.is(error) ? error.failure.kind : String(error)),
    );
  return { files, exec, sh, can };
}

const refusal = async (work: Promise<unknown>): Promise<EnvironmentError["failure"]> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!EnvironmentError.is(error)) throw new Error("it was no EnvironmentError", { cause: error });
  return error.failure;
};

describeWithBubblewrap("the sandbox environment", () => {
  it("holds commands and files to the same bounds: writable roots, denied paths, hooks [AG-21] [MC-13]", async () => {
    const config = sandbox({ filesystem: { allowedRoots: ["."], deniedPaths: ["secret"] } });
    const { files, sh, can } = await open({ ...nothing, sandboxes: [config] });
    expect(await sh("echo x > src/b.ts && cat src/b.ts")).toBe("x");
    expect(await can(files.write("src/c.ts", "x"))).toBe(true);
    for (const path of ["AGENTS.md", ".git/hooks/pre-commit", ".git/config", "nested/.git/hooks/x", ".husky/pre-push"]) {
      expect(await sh(`echo x > ${path}`), path).toContain("failed");
      expect(await can(files.write(path, "x")), path).toBe("operation-denied");
    }
    expect(await sh("cat secret/key")).toContain("failed");
    expect(await sh(`echo x > ${base}/other/file`)).toContain("failed");
    expect(await can(files.read("secret/key"))).toBe("operation-denied");
    expect(await can(files.write("secret/new", "x"))).toBe("operation-denied");
    expect(await can(files.read(`${base}/other/file`))).toBe("path-traversal");
    expect(await can(files.read("AGENTS.md"))).toBe(true);
  });

  it("has the defaults of a policy if a sandbox says only that it is enabled: a writable workspace, no network, every command [AG-21, MC-11, MC-12, MC-13]", async () => {
    const { files, sh, can } = await open({ ...nothing, sandboxes: [{ enabled: true }] });
    expect(await sh("echo x > src/b.ts && cat src/b.ts && wc -l < src/b.ts | tr -d ' '")).toBe("x\n1");
    expect(await sh(`echo x > ${base}/other/file`)).toContain("failed");
    expect(await sh("echo $HTTP_PROXY$HTTPS_PROXY")).toBe("");
    expect(await can(files.write("src/c.ts", "x"))).toBe(true);
    const open2 = await open({
      ...nothing,
      sandboxes: [{ enabled: true, network: { enabled: true }, filesystem: { deniedPaths: ["secret"] } }],
    });
    expect(await open2.sh("echo $HTTP_PROXY$HTTPS_PROXY")).not.toBe("");
    expect(await open2.sh("cat secret/key")).toContain("failed");
    expect(await open2.sh("echo y > src/b.ts && cat src/b.ts")).toBe("y");
  });

  it("names the path and the folders that may be changed if a write lies outside of them [ER-16, ET-11]", async () => {
    const { files } = await open({ ...nothing, sandboxes: [sandbox({ filesystem: { allowedRoots: ["src"], deniedPaths: [] } })] });
    const error: unknown = await files.write("top", "x").catch((thrown: unknown) => thrown);
    const scope = join(workspace, "src");
    expect(VfsError.is(error, "scope-violation") && error.failure).toMatchObject({ path: join(workspace, "top"), scope });
    expect((error as VfsError).message).toBe(
      `${join(workspace, "top")} cannot be changed: only what lies in ${scope} can. Use a path inside.`,
    );
  });

  it("shows files that are denied to no search, and lets no folder take them or hooks along", async () => {
    const config = sandbox({ filesystem: { allowedRoots: ["."], deniedPaths: ["secret"] } });
    const { files, can } = await open({ ...nothing, sandboxes: [config] });
    expect((await files.grep("canary")).map(({ file }) => file).filter((file) => file.includes("secret"))).toEqual([]);
    expect((await files.glob("**")).map(({ path }) => path).filter((path) => path.includes("secret"))).toEqual([]);
    expect((await files.ls(".")).map(({ name }) => name)).not.toContain("secret");
    await symlink(join(workspace, "secret"), join(workspace, "src/link"));
    expect(await can(files.read("src/link/key"))).toBe("operation-denied");
    await files.write("evil/hooks/pre-commit", "x");
    for (const work of [
      () => files.mv("evil", ".git"),
      () => files.cp("evil/hooks", ".git/hooks"),
      () => files.mv("evil", "src/.git"),
      () => files.mv("secret", "shown"),
      () => files.cp(".", `${workspace}/src/copy`),
      () => files.mv(".git", "git"),
      () => files.rm(".git", { recursive: true }),
      () => files.write("src/.git", "gitdir: /elsewhere"),
    ])
      expect(await can(work()), String(work)).not.toBe(true);
    expect(await can(files.mv("evil", "good"))).toBe(true);
    expect(await can(files.rm("good", { recursive: true }))).toBe(true);
  });

  it("protects what the hooks of a nested repository lead to, and those that its settings name, from files as from commands [MC-13]", async () => {
    for (const folder of ["tools/hooks", "named", "bare.git/objects", "bare.git/refs", "bare.git/hooks"])
      await mkdir(join(workspace, folder), { recursive: true });
    await writeFile(join(workspace, "bare.git/HEAD"), "ref: refs/heads/main\n");
    await symlink("../../tools/hooks", join(workspace, "nested/.git/hooks"));
    await writeFile(join(workspace, "nested/.git/config"), "[core]\n\thooksPath = ../named\n");
    const { files, sh, can } = await open({ ...nothing, sandboxes: [sandbox()] });
    for (const path of ["tools/hooks/pre-commit", "named/pre-commit", "nested/.git/hooks/pre-commit", "bare.git/hooks/pre-commit"]) {
      expect(await sh(`echo x > ${path}`), path).toContain("failed");
      expect(await can(files.write(path, "x")), path).toBe("operation-denied");
    }
    expect(await can(files.mv("tools", "moved"))).toBe("operation-denied");
    expect(await can(files.write("tools/other", "x"))).toBe(true);
    // Were the whole workspace what they lead to, nothing could be written.
    await rm(join(workspace, "nested/.git/hooks"));
    await symlink("../..", join(workspace, "nested/.git/hooks"));
    expect(await can((await open({ ...nothing, sandboxes: [sandbox()] })).files.write("src/new", "x"))).toBe(true);
  });

  it("takes what its maker allows for the most that there is, whatever a spec asks for [EN-02]", async () => {
    const policy = { filesystem: { writableRoots: ["src"] }, commands: { denied: ["wc"] } };
    const wide = sandbox({
      filesystem: { allowedRoots: [".", `${base}/other`], deniedPaths: ["src/a.ts"] },
      network: { enabled: true, deniedDomains: [] },
    });
    const { files, sh, exec, can } = await open({ ...nothing, sandboxes: [wide] }, { policy });
    expect(await sh("echo x > src/new && echo done")).toBe("done");
    expect(await sh("echo x > top")).toContain("failed");
    expect(await sh(`echo x > ${base}/other/new`)).toContain("failed");
    expect(await sh("cat src/a.ts")).not.toContain("canary");
    expect(await sh("echo $HTTP_PROXY$HTTPS_PROXY")).toBe("");
    expect((await refusal(exec.execute({ command: "wc -l src/new" }))).kind).toBe("isolation-violation");
    expect(await can(files.write("top", "x"))).toBe("scope-violation");
    expect(await can(files.write("src/newer", "x"))).toBe(true);
  });

  it("runs no command once a root of it was replaced by a link", async () => {
    const { exec } = await open({ ...nothing, sandboxes: [sandbox({ filesystem: { allowedRoots: ["src"], deniedPaths: [] } })] });
    await rename(join(workspace, "src"), join(workspace, "moved"));
    await symlink(join(base, "other"), join(workspace, "src"));
    expect(await refusal(exec.execute({ command: "echo x > src/file" }))).toMatchObject({
      kind: "isolation-violation",
      message: expect.stringContaining("replaced by a link"),
    });
    expect(await readFile(join(base, "other/file"), "utf8")).toBe("canary\n");
  });

  it("gives commands credentials as variables and files, and takes their values out of what they print [EN-02]", async () => {
    const secrets = { resolve: async (reference: string) => `value-of-${reference}` };
    const credentials = [
      { name: "token", reference: "a", injection: { type: "env-var", variable: "TOKEN" } },
      { name: "file", reference: "b", injection: { type: "file", path: "keys/one" } },
    ] as const;
    const { sh } = await open({ ...nothing, credentials }, { secrets });
    expect(await sh('test "$TOKEN" = value-of-a && echo "it is $TOKEN"')).toBe("it is [redacted]");
    expect(await sh('test "$(cat $KEELSON_CREDENTIALS/keys/one)" = value-of-b && echo right')).toBe("right");
    expect(await sh("echo x > $KEELSON_CREDENTIALS/keys/two")).toContain("failed");
    const refused = open({ ...nothing, credentials }, { secrets: { resolve: () => Promise.reject(new Error("there is none")) } });
    expect(await refusal(refused)).toMatchObject({ kind: "credential-failed", credential: "token" });
  });

  it("bounds the memory of commands, by the lower of both limits [EN-02]", async () => {
    const { sh } = await open({ ...nothing, resources: { memory: "64Mi" } }, { policy: { resources: { memory: "1Gi" } } });
    expect(await sh("python3 -c 'x = bytearray(200_000_000)' && echo held")).toContain("MemoryError");
  });

  it("refuses what it can't be, and where it can't be made, before anything runs [EN-03]", async () => {
    const refused: readonly (readonly [Partial<EnvironmentSpec>, Partial<SandboxEnvironmentOptions>?])[] = [
      [{ isolation: [{ type: "gvisor" }] }],
      [{ isolation: [{ type: "micro-vm" }] }],
      [{ isolation: [{ type: "wasm" }] }],
      [{ isolation: [{ type: "container" }] }],
      [{ resources: { gpu: "1" } }],
      [{ resources: { cpu: "many" } }],
      [{ credentials: [{ name: "key", reference: "a", injection: { type: "sidecar" } }] }],
      [{}, { workspace: join(base, "missing") }],
      [{}, { executor: { bubblewrap: join(base, "bwrap") } }],
      [{ sandboxes: [sandbox({ filesystem: { allowedRoots: ["missing"], deniedPaths: [] } })] }],
    ];
    for (const [spec, options] of refused)
      expect(await refusal(open({ ...nothing, ...spec }, options)), JSON.stringify(spec)).toMatchObject({ kind: "provision-failed" });
    expect(() => createSandboxEnvironment({ workspace, policy: { filesystm: {} } as never })).toThrow(/did you mean "filesystem"/);
  });

  it("is where the tools of a run work, and those of its children, who can only be held tighter [AG-21]", async () => {
    const shell = defineTool({
      name: "shell",
      description: "Runs a command.",
      effect: "idempotent",
      input: { type: "object" },
      async execute(input: unknown, { exec }) {
        const { stdout, stderr } = (await exec?.execute({ command: (input as { command: string }).command })) ?? {};
        return `${stdout}${stderr}`.trim();
      },
    });
    const command = "for at in src nested; do (echo x > $at/mine) 2>/dev/null && echo $at; done; true";
    const script = () => scriptedModel([{ toolCalls: [{ name: "shell", input: { command } }] }, "done"]);
    const permissions = { mode: "bypass-all" } as const;
    const only = (root: string) => sandbox({ filesystem: { allowedRoots: [root], deniedPaths: [] } });
    const child = createAgent({ name: "child", model: script(), tools: [shell], permissions, sandbox: only(".") });
    const lead = createAgent({
      name: "lead",
      model: scriptedModel([
        {
          toolCalls: [
            { name: "child", input: { task: "go" } },
            { name: "shell", input: { command } },
          ],
        },
        "done",
      ]),
      tools: [shell],
      agents: { child },
      permissions,
      sandbox: only("src"),
    });
    const environment = createSandboxEnvironment({ workspace });
    const { events, outcome } = await watch(runnerOf(lead, { environment, clock: systemClock }).run("go"));
    expect(outcome.reason).toBe("complete");
    const shown = ofType(events, "tool-result").filter(({ name }) => name === "shell");
    expect(shown.map(({ output, path }) => [path?.join("/") ?? "", output])).toEqual(
      expect.arrayContaining([
        ["child", "src"],
        ["", "src"],
      ]),
    );
    const alone = createAgent({ name: "child", model: script(), tools: [shell], permissions, sandbox: only(".") });
    const own = await watch(runnerOf(alone, { environment, clock: systemClock }).run("go"));
    expect(ofType(own.events, "tool-result")).toMatchObject([{ output: "src\nnested" }]);
  });
});

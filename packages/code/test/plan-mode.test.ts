import { access, readFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, it, vi } from "vitest";
import { createCodingRunner } from "../src/core/coding-runner.ts";
import type { CommandHost, OutputStream } from "../src/core/command-host.ts";
import { type Launch, launchToMetadata } from "../src/core/launch.ts";
import { openModels } from "../src/core/model-access.ts";
import { newSession } from "../src/core/new-session.ts";
import { tasksOf } from "../src/core/session-tasks.ts";
import { openStores } from "../src/core/stores.ts";
import { main } from "../src/main.ts";
import { trustAll } from "../src/trust/project-trust.ts";
import { openTrustedProject } from "../src/trust/trusted-project.ts";
import { MODELS, openWorkspace, resultsIn, type Workspace } from "./keelson-process.ts";

// It works with a real database, a real server and processes, on machines that may be busy.
vi.setConfig({ testTimeout: 120_000 });

const PLAN = "1. Write a.txt\n2. Read it again";
const present = (plan = PLAN): object => ({ toolCalls: [{ name: "present_plan", input: { plan } }] });
const write = (path: string): object => ({ toolCalls: [{ name: "write_file", input: { path, content: "made\n" } }] });

const bodyOf = ({ server }: Workspace, index: number): string => JSON.stringify(server.requests[index]?.body);
const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** A terminal that a test types into. */
function openTerminal(workspace: Workspace) {
  const keys = Object.assign(new PassThrough(), { isTTY: true as const });
  let written = "";
  let notice = Promise.withResolvers<void>();
  const terminal: OutputStream = Object.assign(
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        written += chunk.toString();
        notice.resolve();
        notice = Promise.withResolvers();
        done();
      },
    }),
    { isTTY: true as const, columns: 100 },
  );
  const host: CommandHost = {
    environment: {
      KEELSON_SANDBOX: "0",
      KEELSON_HOME: workspace.home,
      ANTHROPIC_API_KEY: "key",
      ANTHROPIC_BASE_URL: workspace.server.url,
      NO_COLOR: "1",
    },
    cwd: workspace.project,
    stdin: keys,
    stdout: terminal,
    stderr: terminal,
    signals: { on: () => {}, off: () => {} },
    command: "keelson",
    version: "0",
    now: Date.now,
    exit: () => {},
  };
  return {
    host,
    length: () => written.length,
    text: () => stripVTControlCharacters(written),
    type: (line: string) => void keys.write(`${line}\r`),
    async until(pattern: RegExp, from = 0): Promise<void> {
      while (!pattern.test(stripVTControlCharacters(written.slice(from)))) await notice.promise;
    },
  };
}

it("prints a plan with -p, changes nothing, and exits with 0", async () => {
  await using workspace = await openWorkspace([write("a.txt"), { text: PLAN }]);
  const { code, stdout } = await workspace.keelson("-p", "--permission-mode", "plan-only", "plan a.txt");
  expect([code, stdout]).toEqual([0, `${PLAN}\n`]);
  expect(await exists(join(workspace.project, "a.txt"))).toBe(false);
  expect(bodyOf(workspace, 0)).toContain("Plan mode is on.");
  expect(bodyOf(workspace, 0)).toContain("Answer with the complete plan");
  // The tool needs a person at a terminal.
  expect(bodyOf(workspace, 0)).not.toContain("present_plan");
  expect(resultsIn(workspace.server.requests[1] as never)).toContain("The permission mode is plan-only");
  // Once, and not in the system prompt: that would cost the whole cached conversation when the mode changes.
  expect(bodyOf(workspace, 1).split("Plan mode is on.")).toHaveLength(2);
  const { system } = workspace.server.requests[0]?.body as { readonly system: unknown };
  expect(JSON.stringify(system)).not.toContain("Plan mode");
});

it("presents a plan in a terminal until the person accepts it, and then works without questions about edits", async () => {
  const tasks = [
    { text: "Write a.txt", state: "doing" },
    { text: "Read it again", state: "open" },
  ];
  await using workspace = await openWorkspace([
    present("1. Write everything"),
    present(),
    { toolCalls: [{ name: "update_tasks", input: { tasks } }] },
    write("a.txt"),
    { text: "Made it." },
    write("b.txt"),
    { text: "And more." },
  ]);
  const terminal = openTerminal(workspace);
  const code = main(["--permission-mode", "plan-only"], terminal.host);
  await terminal.until(/›\s+plan-only · /);
  terminal.type("make a.txt");
  await terminal.until(/The agent presents a plan:[\s\S]*│ 1\. Write everything[\s\S]*\[n\]o › /);
  terminal.type("n");
  await terminal.until(/what should be planned otherwise › /);
  const second = terminal.length();
  terminal.type("only a.txt");
  await terminal.until(/│ 1\. Write a\.txt[\s\S]*\[n\]o › /, second);
  expect(await exists(join(workspace.project, "a.txt"))).toBe(false);
  terminal.type("a");
  await terminal.until(/permission mode: plan-only → accept-edits[\s\S]*Made it\.[\s\S]*✔ complete/, second);
  expect(await readFile(join(workspace.project, "a.txt"), "utf8")).toBe("made\n");
  const third = terminal.length();
  // The mode that was chosen holds for the conversation.
  terminal.type("and b.txt");
  await terminal.until(/And more\.[\s\S]*✔ complete/, third);
  expect(await exists(join(workspace.project, "b.txt"))).toBe(true);
  terminal.type("/quit");
  expect(await code).toBe(0);

  expect(resultsIn(workspace.server.requests[1] as never)).toContain("The person says: only a.txt");
  expect(resultsIn(workspace.server.requests[2] as never)).toContain("The plan is accepted: carry it out now. Edits of files run");
  expect(bodyOf(workspace, 0)).toContain("call present_plan with all of it");
  expect(bodyOf(workspace, 1)).not.toContain("Plan mode is off.");
  expect(bodyOf(workspace, 2)).toContain("Plan mode is off. The permission mode is accept-edits");
  expect(bodyOf(workspace, 6).split("Plan mode is off.")).toHaveLength(2);
  const session = /continue with: keelson -r (\S+)/.exec(terminal.text())?.[1] ?? "";
  await using stores = await openStores(terminal.host.environment);
  const { openSessionRunner } = await import("../src/core/session-runner.ts");
  expect(tasksOf(await openSessionRunner(stores).sessions.get(session))).toEqual(tasks);
});

it("lets a plan that waits be accepted from another process, which ends plan mode there as well", async () => {
  await using workspace = await openWorkspace([present(), write("a.txt"), { text: "Made it." }]);
  let session: string;
  {
    await using stores = await openStores(workspace.environment);
    const { models, secrets } = await openModels(workspace.environment);
    const launch: Launch = {
      cwd: workspace.project,
      agent: { model: MODELS.anthropic, permissionMode: "plan-only", rules: [] },
      inSandbox: false,
      presentsPlans: true,
    };
    const project = await openTrustedProject(trustAll(workspace.project), {
      ...{ policy: undefined, secrets, home: stores.home, environment: {} },
      onProblem() {},
      onLeftOut() {},
    });
    const runner = createCodingRunner({ stores, models, secrets, launch, project });
    session = await newSession(runner, []);
    const run = runner.run("make a.txt", { session, model: MODELS.anthropic, metadata: launchToMetadata(launch) });
    expect((await run.outcome).reason).toBe("awaiting-decision");
  }
  const listed = await workspace.keelson("approve");
  const id = /\b[0-9a-f]{8}\b/.exec(listed.stdout)?.[0] ?? "";
  const approved = await workspace.keelson("approve", id, "supply", '{"decision":"accept-edits"}');
  expect([approved.code, approved.stderr]).toEqual([0, ""]);
  const resumed = await workspace.keelson("-p", "-r", session);
  expect([resumed.code, resumed.stdout]).toEqual([0, "Made it.\n"]);
  expect(await exists(join(workspace.project, "a.txt"))).toBe(true);
});

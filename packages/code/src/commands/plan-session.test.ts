import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import type { Provider, SessionId } from "@keelson/protocol";
import { createModelRegistry } from "keelson/providers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CommandHost } from "../core/command-host.ts";
import { createKnownSecrets } from "../core/known-secrets.ts";
import { type Launch, launchToMetadata } from "../core/launch.ts";
import type { ModelAccess } from "../core/model-access.ts";
import { newSession } from "../core/new-session.ts";
import type { RunTerms } from "../core/run-terms.ts";
import { folderTags } from "../core/session-folder.ts";
import { openSessionRunner } from "../core/session-runner.ts";
import { openStores, type Stores } from "../core/stores.ts";
import type { SessionPlanner } from "../modes/session-plan.ts";
import type { RunCommand } from "../options/command-line.ts";
import { createSessionPlanner } from "./plan-session.ts";

const TERMS: RunTerms = { model: "a/now", mode: "plan-only", effort: "high" };
const COMMAND: RunCommand = {
  type: "run",
  print: false,
  outputFormat: "text",
  onApproval: "suspend",
  session: { type: "new" },
  fork: false,
  trust: true,
  agent: { model: "a/first", sandbox: false, maxTurns: 7, rules: [{ pattern: "bash(ls)", behavior: "allow" }] },
};

let base: string;
let stores: Stores;
let written: string;
beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-plan-")));
  for (const folder of ["one", "two", "person"]) mkdirSync(join(base, folder));
  stores = await openStores(environment());
  written = "";
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
  rmSync(base, { recursive: true });
});

const environment = () => ({ HOME: join(base, "person"), KEELSON_HOME: join(base, "home") });

function planner(): SessionPlanner {
  const provider: Provider = {
    name: "a",
    wire: "none",
    // oxlint-disable-next-line require-yield -- it never responds
    async *stream() {
      throw new Error("nobody asks it");
    },
  };
  const access: ModelAccess = {
    models: createModelRegistry({ providers: { a: provider } }),
    defaultModel: async () => undefined,
    secrets: createKnownSecrets({}),
  };
  const stderr = new Writable({ write: (chunk: Buffer, _encoding, done) => ((written += chunk.toString()), done()) });
  const host = { environment: environment(), cwd: join(base, "one"), stderr, command: "keelson", now: () => 0 } as unknown as CommandHost;
  return createSessionPlanner({ command: COMMAND, cwd: join(base, "one"), access, stores }, host);
}

/** A session of a folder with a run that is over, or that is open. */
async function session(folder: string, agent: Launch["agent"], state: "over" | "open"): Promise<SessionId> {
  const runner = openSessionRunner(stores);
  const cwd = join(base, folder);
  const id = await newSession(runner, folderTags(cwd, stores.home.path));
  const metadata = launchToMetadata({ cwd, agent, inSandbox: false });
  if (state === "open") await runner.begin(id, "go", { metadata });
  else await runner.run("go", { session: id, metadata }).outcome;
  return id;
}

describe("createSessionPlanner", () => {
  it("plans a new session in the folder of the conversation, with its terms and the options of the command", async () => {
    const plan = await planner().plan({ type: "new", cwd: join(base, "one"), terms: TERMS });
    expect(plan).toMatchObject({ session: undefined, resume: false, launch: { cwd: join(base, "one"), inSandbox: false } });
    expect(plan.launch.agent).toMatchObject({ model: "a/now", permissionMode: "plan-only", effort: "high", maxTurns: 7 });
    expect(plan.launch.agent.rules).toEqual(COMMAND.agent.rules);
    expect(plan.launch.facts).toContain("At the start of this session");
  });

  it("keeps the model of a session that is resumed, and gives it the mode of the conversation", async () => {
    const id = await session("two", { model: "a/old", permissionMode: "bypass-all", rules: [] }, "over");
    const plan = await planner().plan({ type: "named", id: id.slice(0, 8), terms: TERMS });
    expect([plan.session, plan.resume, plan.launch.cwd]).toEqual([id, false, join(base, "two")]);
    expect(plan.launch.agent).toMatchObject({ model: "a/old", permissionMode: "plan-only", maxTurns: 7 });
  });

  it("goes on with a run that is not finished as it was started", async () => {
    const id = await session("two", { model: "a/old", permissionMode: "accept-edits", maxTurns: 2, rules: [] }, "open");
    const plan = await planner().plan({ type: "named", id, terms: TERMS });
    expect(plan.resume).toBe(true);
    expect(plan.launch.agent).toMatchObject({ permissionMode: "accept-edits", maxTurns: 2, rules: [] });
    expect(plan.launch.agent.effort).toBeUndefined();
  });

  it("trusts another project than the first only as far as it was trusted before", async () => {
    const id = await session("two", { model: "a/old", rules: [] }, "over");
    expect((await planner().plan({ type: "named", id, terms: TERMS })).trust.trustsAll).toBeUndefined();
    expect((await planner().plan({ type: "new", cwd: join(base, "one"), terms: TERMS })).trust.trustsAll).toBe(true);
  });

  it("says in the notices, and not on standard error, what of the settings is not used", async () => {
    writeFileSync(join(base, "home/settings.json"), JSON.stringify({ effort: "high" }));
    const id = await session("one", { model: "a/gpt-4o", rules: [] }, "over");
    const { notices } = await planner().plan({ type: "named", id, terms: TERMS });
    expect(notices).toEqual(["effort high of settings is not used: a/gpt-4o takes no effort"]);
    expect(written).toBe("");
  });

  it("refuses a session that there is not, and one whose folder is gone", async () => {
    await expect(planner().plan({ type: "named", id: "nothing", terms: TERMS })).rejects.toThrow('There is no session "nothing"');
    const id = await session("two", { model: "a/old", rules: [] }, "over");
    rmSync(join(base, "two"), { recursive: true });
    await expect(planner().plan({ type: "named", id, terms: TERMS })).rejects.toThrow("is gone");
  });
});

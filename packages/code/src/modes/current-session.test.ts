import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createModelRegistry } from "keelson/providers";
import { scriptedModel } from "keelson/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createKnownSecrets } from "../core/known-secrets.ts";
import { type Launch, launchFromMetadata } from "../core/launch.ts";
import { openStores, type Stores } from "../core/stores.ts";
import { trustAll } from "../trust/project-trust.ts";
import { type CurrentSession, openCurrentSession } from "./current-session.ts";
import type { OpenSession } from "./open-session.ts";
import type { SessionPlan, WantedSession } from "./session-plan.ts";

let base: string;
let stores: Stores;
beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "keelson-current-")));
  for (const folder of ["one", "two", "person"]) mkdirSync(join(base, folder));
  stores = await openStores(environment());
});
afterEach(async () => {
  await stores[Symbol.asyncDispose]();
  rmSync(base, { recursive: true });
});

const environment = () => ({ HOME: join(base, "person"), KEELSON_HOME: join(base, "home") });

function planOf(folder: string, more: Partial<SessionPlan> = {}): SessionPlan {
  const cwd = join(base, folder);
  return {
    launch: { cwd, inSandbox: false, agent: { model: "a/one", sandbox: false, rules: [] } },
    projectRules: [],
    notices: [],
    trust: trustAll(cwd),
    resume: false,
    ...more,
  };
}

interface Opened {
  readonly current: CurrentSession;
  readonly opened: OpenSession[];
  readonly wanted: WantedSession[];
  readonly requests: () => readonly string[];
  next(plan: SessionPlan): void;
}

async function open(agent: Partial<Launch["agent"]> = {}): Promise<Opened> {
  const opened: OpenSession[] = [];
  const wanted: WantedSession[] = [];
  const plans: SessionPlan[] = [];
  const model = scriptedModel(Array.from({ length: 6 }, (_, index) => `answer ${index}`));
  const first = planOf("one");
  const launch = { ...first.launch, agent: { ...first.launch.agent, ...agent } };
  const current = await openCurrentSession(
    { ...first, launch },
    {
      stores,
      models: createModelRegistry({ providers: { a: model, b: model } }),
      secrets: createKnownSecrets({}),
      planner: {
        async plan(given) {
          wanted.push(given);
          const plan = plans.shift();
          if (plan === undefined) throw new Error("the folder is gone");
          return given.type === "named" ? { ...plan, session: given.id as never } : plan;
        },
        findings: async () => [],
      },
      environment: environment(),
      now: () => 0,
      onLeftOut() {},
      onProblem(message) {
        throw new Error(message);
      },
      onOpened: (session) => void opened.push(session),
    },
  );
  return {
    current,
    opened,
    wanted,
    requests: () => model.requests.map(({ messages }) => JSON.stringify(messages)),
    next: (plan) => void plans.push(plan),
  };
}

async function say({ session }: CurrentSession, text: string): Promise<string> {
  const run = await session.start(text);
  const { reason } = await run.outcome;
  return reason;
}

describe("openCurrentSession", () => {
  it("keeps nothing of a session before its first message, and records each run with the terms that it had", async () => {
    const { current } = await open();
    expect([current.session.id, await current.session.runner.sessions.list()]).toEqual([undefined, []]);
    current.session.change({ model: "b/two" });
    expect(() => current.session.change({ model: "c/three" })).toThrow(/no provider "c"/);
    expect(await say(current, "hello")).toBe("complete");
    const { id = "", runner } = current.session;
    for await (const event of runner.sessions.events(id))
      if (event.type === "run-start") expect(launchFromMetadata(event.metadata)?.agent.model).toBe("b/two");
    await current[Symbol.asyncDispose]();
  });

  it("has the effort that the session was started with if another one is taken back", async () => {
    const { current } = await open({ effort: "low" });
    expect(current.session.terms.effort).toBe("low");
    current.session.change({ effort: "high" });
    current.session.change({ model: "b/two" });
    expect(current.session.terms.effort).toBe("high");
    current.session.change({ effort: undefined });
    expect(current.session.terms.effort).toBe("low");
    await current[Symbol.asyncDispose]();
  });

  it("begins a new session with the same terms, and keeps the former one", async () => {
    const { current, next, wanted, requests } = await open();
    await say(current, "first");
    const former = current.session;
    former.change({ model: "b/two" });
    next(planOf("one"));
    await current.begin();
    expect(wanted).toEqual([{ type: "new", cwd: join(base, "one"), terms: { model: "b/two", mode: "default", effort: undefined } }]);
    expect([current.session.id, current.session.place]).toEqual([undefined, former.place]);
    await say(current, "second");
    expect(requests()[1]).not.toContain("first");
    expect(await former.runner.sessions.list()).toHaveLength(2);
    await current[Symbol.asyncDispose]();
  });

  it("goes on in a copy, with its conversation, its terms, and what the agent was not told yet", async () => {
    const { current, next, requests } = await open();
    await say(current, "first");
    const former = current.session.id;
    current.session.change({ model: "b/two" });
    current.session.noteChanges(["src/a.ts"], "undo");
    next(planOf("one"));
    const copy = await current.fork();
    expect([current.session.id, current.session.terms.model]).toEqual([copy, "b/two"]);
    expect(copy).not.toBe(former);
    await say(current, "second");
    expect(requests()[1]).toMatch(/first.*answer 0.*src\/a\.ts.*second/);
    await say(current, "third");
    expect(requests()[2]?.match(/src\/a\.ts/g)).toHaveLength(1);
    await current[Symbol.asyncDispose]();
  });

  it("copies nothing before the first message", async () => {
    const { current } = await open();
    await expect(current.fork()).rejects.toThrow("nothing to copy yet");
    await current[Symbol.asyncDispose]();
  });

  it("opens the commands and settings of another folder with a session of it", async () => {
    const { current, next, opened } = await open();
    mkdirSync(join(base, "two/.keelson/commands"), { recursive: true });
    writeFileSync(join(base, "two/.keelson/commands/fix.md"), "Fix it.\n");
    await say(current, "first");
    next(planOf("two", { resume: true }));
    expect(await current.go(current.session.id ?? "")).toBe(true);
    expect(current.session.place.commands.map(({ name }) => name)).toEqual(["fix"]);
    expect(opened.map(({ plan }) => plan.launch.cwd)).toEqual([join(base, "one"), join(base, "two")]);
    await current[Symbol.asyncDispose]();
  });

  it("stays in its session if another one cannot be opened", async () => {
    const { current } = await open();
    await say(current, "first");
    const former = current.session;
    await expect(current.go("other")).rejects.toThrow("the folder is gone");
    expect(current.session).toBe(former);
    expect(await say(current, "second")).toBe("complete");
    await current[Symbol.asyncDispose]();
  });
});

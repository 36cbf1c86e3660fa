import { AgentError, LogError, type EventLog, type LogId } from "@keelson/protocol";
import { agentTool, createAgent, type Agent, type PendingApproval, type Run, type SingleRunner } from "keelson";
import type { Sessions } from "keelson/session";
import { createMemoryBlobStore } from "keelson/state";
import { scriptedModel } from "keelson/testing";
import { describe, expect, it } from "vitest";
import { recordingTool, runnerOf, sharedServices } from "./support.ts";

interface BreakableLog extends EventLog {
  /** What it throws from now on. */
  broken?: () => Error;
}

/** A log that works until it is told what to throw from then on, whatever is asked of it. */
function breakableLog(log: EventLog): BreakableLog {
  const check = (): void => {
    if (breakable.broken) throw breakable.broken();
  };
  const orThrow = async <T>(act: () => Promise<T>): Promise<T> => {
    check();
    return act();
  };
  const breakable: BreakableLog = {
    append: (...request) => orThrow(() => log.append(...request)),
    async *read(id: LogId, options) {
      check();
      for await (const record of log.read(id, options)) {
        check();
        yield record;
      }
    },
    head: (id) => orThrow(() => log.head(id)),
    list: (options) => orThrow(() => log.list(options)),
    delete: (id) => orThrow(() => log.delete(id)),
    acquire: (id, options) => orThrow(() => log.acquire(id, options)),
    [Symbol.asyncDispose]: () => log[Symbol.asyncDispose](),
  };
  return breakable;
}

/** A run that waits for an answer to its question, with a log that can break. */
interface Scene {
  readonly log: BreakableLog;
  readonly runner: SingleRunner;
  /** At work: somebody who could answer it takes its questions. */
  readonly run: Run;
  readonly question: PendingApproval;
}

async function scene(): Promise<Scene> {
  const wipe = { toolCalls: [{ name: "wipe", input: {} }] };
  const tools = [recordingTool("wipe", { risk: "high" })];
  return sceneOf(createAgent({ name: "a", model: scriptedModel([wipe, "wiped"]), tools }));
}

/** As before, but it is a child of the run that asks. */
async function sceneBelow(): Promise<Scene> {
  const wipe = { toolCalls: [{ name: "wipe", input: {} }] };
  const tools = [recordingTool("wipe", { risk: "high" })];
  const child = createAgent({ name: "child", model: scriptedModel([wipe, "wiped"]), tools });
  const call = { toolCalls: [{ name: "child", input: { task: "wipe it" } }] };
  return sceneOf(createAgent({ name: "a", model: scriptedModel([call, "done"]), tools: [agentTool(child)] }));
}

async function sceneOf(agent: Agent): Promise<Scene> {
  const services = sharedServices();
  const log = breakableLog(services.log);
  const blobs = createMemoryBlobStore();
  // A wait for people has no end here: time stands still.
  const clock = { now: () => services.clock.now(), after: () => () => {} };
  const runner = runnerOf(agent, { ...services, clock, log, blobs });
  const run = runner.run("wipe it", { session: "s" });
  for await (const question of run.approvals()) return { log, runner, run, question };
  throw new Error("nobody asked");
}

async function next(events: AsyncIterable<unknown>): Promise<unknown> {
  return events[Symbol.asyncIterator]().next();
}

/** How each method is called, or why it has no error of its own. A new method does not compile without a line here. */
type Calls<Subject> = { readonly [K in keyof Subject]: ((subject: Subject, scene: Scene) => unknown) | string };

const TELLS_BY_OUTCOME = "what befalls the run is told by its outcome";

const RUNNER: Calls<SingleRunner> = {
  run: TELLS_BY_OUTCOME,
  begin: (runner) => runner.begin("t", "wipe it"),
  sessions: "its methods are called below",
  resume: (runner) => runner.resume("s"),
  recover: (runner) => runner.recover(),
  approvals: (runner) => runner.approvals.list(),
  approve: (runner, { question }) => runner.approve(question.request.token, { type: "allow" }),
  signal: (runner) => runner.signal("s", { kind: "timer", payload: null }),
  stop: (runner) => runner.stop("s"),
  interrupt: (runner) => runner.interrupt("s"),
  abort: (runner) => runner.abort("s"),
  setPermissionMode: (runner) => runner.setPermissionMode("s", "plan-only"),
  setEffort: (runner) => runner.setEffort("s", "low"),
  compact: (runner) => runner.compact("s"),
  steer: (runner) => runner.steer("s", "look again"),
  advance: (runner) => runner.advance("s"),
  rehearse: (runner) => next(runner.rehearse()),
  xray: (runner) => runner.xray("s"),
};

const SESSIONS: Calls<Sessions> = {
  create: (sessions) => sessions.create(),
  list: (sessions) => sessions.list(),
  search: (sessions) => sessions.search("word"),
  get: (sessions) => sessions.get("s"),
  messagesAt: (sessions) => sessions.messagesAt("s", 1),
  fork: (sessions) => sessions.fork("s"),
  rewind: (sessions) => sessions.rewind("s", 0),
  rename: (sessions) => sessions.rename("s", "other"),
  tag: (sessions) => sessions.tag("s", "tag"),
  delete: (sessions) => sessions.delete("s"),
  retain: (sessions) => sessions.retain({ maxAgeMs: 0 }),
  events: (sessions) => next(sessions.events("s")),
};

const RUN: Calls<Run> = {
  id: "no method",
  session: "no method",
  outcome: TELLS_BY_OUTCOME,
  stop: (run) => run.stop(),
  interrupt: (run) => run.interrupt(),
  abort: (run) => run.abort(),
  setModel: (run) => run.setModel("scripted/model"),
  setPermissionMode: (run) => run.setPermissionMode("plan-only"),
  setEffort: (run) => run.setEffort("low"),
  compact: (run) => run.compact(),
  steer: (run) => run.steer("look again"),
  signal: (run) => run.signal({ kind: "timer", payload: null }),
  children: "this run has none: see below",
  stopChild: "this run has no child: see below",
  retryChild: "tells the run as its other methods do",
  approvals: (_run, { question }) => question.decide({ type: "allow" }),
  partialOutput: "reads no log",
  events: (run) => next(run.events({ after: 0 })),
  [Symbol.asyncIterator]: TELLS_BY_OUTCOME,
};

const SUBJECTS: readonly {
  readonly name: string;
  readonly calls: Readonly<Record<string, ((subject: never, scene: Scene) => unknown) | string>>;
  of(scene: Scene): unknown;
}[] = [
  { name: "runner", calls: RUNNER, of: ({ runner }) => runner },
  { name: "runner.sessions", calls: SESSIONS, of: ({ runner }) => runner.sessions },
  { name: "run", calls: RUN, of: ({ run }) => run },
];

const METHODS = SUBJECTS.flatMap(({ name, calls, of }) =>
  Object.entries(calls).flatMap(([method, call]) =>
    typeof call === "string" ? [] : [{ method: `${name}.${method}`, call: (stage: Scene) => call(of(stage) as never, stage) }],
  ),
);

const thrown = async (act: () => unknown): Promise<unknown> => {
  try {
    await act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
};

describe("a log that fails is an AgentError for whoever called", () => {
  it.each(METHODS)("$method [ET-03]", async ({ call }) => {
    const stage = await scene();
    const unavailable = new LogError({ kind: "unavailable", message: "the disk is away" });
    stage.log.broken = () => unavailable;
    const error = await thrown(() => call(stage));
    expect(error).toBeInstanceOf(AgentError);
    expect((error as AgentError).failure.kind).toBe("backend");
    expect((error as AgentError).message).toContain("the disk is away");
    expect((error as AgentError).cause).toBe(unavailable);
  });

  it.each(METHODS)("$method, where it throws what no log should [ET-03]", async ({ call }) => {
    const stage = await scene();
    stage.log.broken = () => new TypeError("the log has a bug");
    const error = await thrown(() => call(stage));
    expect(error).toBeInstanceOf(AgentError);
    expect(String((error as AgentError).cause)).toContain("the log has a bug");
  });

  it("of the children of a run, too [ET-03]", async () => {
    const { run, log } = await sceneBelow();
    const [child] = await run.children();
    log.broken = () => new LogError({ kind: "unavailable", message: "the disk is away" });
    for (const act of [() => run.children(), () => run.stopChild(child?.id ?? ""), () => run.stopChild("nobody")])
      expect(AgentError.is(await thrown(act), "backend")).toBe(true);
  });
});

import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type Workspace, endOf, eventsOf, openWorkspace } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

interface Printed {
  readonly session: string;
  readonly messages?: unknown;
}

const json = async (workspace: Workspace, ...args: readonly string[]): Promise<Printed> => {
  const { code, stdout, stderr } = await workspace.keelson(...args);
  if (code !== 0) throw new Error(`keelson ${args.join(" ")} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Printed;
};
const lastMessages = (workspace: Workspace): string =>
  JSON.stringify((workspace.server.requests.at(-1)?.body as { messages: unknown }).messages);

describe("sessions", () => {
  it("go on where they were: the newest of this folder with -c, any with -r", async () => {
    await using workspace = await openWorkspace((request) => ({ text: `answer ${request.index}` }), { "sub/x": "" });
    const first = await json(workspace, "--output-format", "json", "my name is Ada");
    const elsewhere = await json(workspace, "--output-format", "json", "-C", "sub", "another folder");
    const more = await json(workspace, "--output-format", "json", "-c", "what is my name?");
    expect(more.session).toBe(first.session);
    expect(lastMessages(workspace)).toMatch(/my name is Ada[\s\S]*answer 0[\s\S]*what is my name/);
    expect(lastMessages(workspace)).not.toContain("another folder");

    // By its id a session is found from anywhere, and works where it did.
    await json(workspace, "--output-format", "json", "-r", elsewhere.session, "and here?");
    expect(JSON.stringify(workspace.server.requests.at(-1)?.body)).toContain(join(workspace.project, "sub"));
  });

  it("are kept in a folder of their owner alone", async () => {
    await using workspace = await openWorkspace([{ text: "ok" }]);
    await workspace.keelson("-p", "go");
    expect((await stat(workspace.home)).mode & 0o777).toBe(0o700);
    expect((await stat(join(workspace.home, "approval-keys.json"))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(workspace.home, "version"), "utf8")).toBe("1\n");
    await writeFile(join(workspace.home, "version"), "99\n");
    expect(await workspace.keelson("sessions", "list")).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(/newer Keelson/) });
  });

  it("can be listed, shown, named, tagged, forked, rewound and deleted", async () => {
    await using workspace = await openWorkspace((request) => ({ text: `answer ${request.index}` }));
    const { session } = await json(workspace, "--output-format", "json", "one");
    await json(workspace, "--output-format", "json", "-c", "two");
    await json(workspace, "sessions", "rename", session, "my work", "--json");
    await json(workspace, "sessions", "tag", session, "keep", "--json");

    const listed = (await json(workspace, "sessions", "list", "--json")) as unknown as readonly object[];
    expect(listed).toEqual([
      expect.objectContaining({ id: session, name: "my work", tags: ["keep"], turnCount: 2, folder: workspace.project, agentName: "code" }),
    ]);
    const shown = await workspace.keelson("sessions", "show", session);
    expect(shown.stdout).toMatch(/my work {2}#keep[\s\S]*› one[\s\S]*answer 0[\s\S]*› two[\s\S]*answer 1/);

    const fork = await json(workspace, "sessions", "fork", session, "--turn", "1", "--name", "other way", "--json");
    await json(workspace, "--output-format", "json", "-r", fork.session, "three");
    expect(lastMessages(workspace)).toMatch(/one[\s\S]*answer 0[\s\S]*three/);
    expect(lastMessages(workspace)).not.toContain("two");

    await json(workspace, "sessions", "rewind", session, "1", "--json");
    await json(workspace, "--output-format", "json", "-r", session, "four");
    expect(lastMessages(workspace)).toMatch(/one[\s\S]*answer 0[\s\S]*four/);
    expect(lastMessages(workspace)).not.toContain("two");

    await json(workspace, "--output-format", "json", "-r", session, "--fork", "five");
    expect(lastMessages(workspace)).toMatch(/four[\s\S]*five/);
    expect((await json(workspace, "sessions", "show", session, "--json")).messages).not.toContain("five");

    const parent = await workspace.keelson("sessions", "delete", session);
    expect([parent.code, parent.stderr]).toEqual([1, expect.stringMatching(/shares its history with its fork/)]);
    await json(workspace, "sessions", "delete", fork.session, "--json");
    expect((await workspace.keelson("sessions", "show", fork.session)).stderr).toMatch(/no session/i);
  });

  it("are listed with how they began, their age and their cost, and found by the beginning of their ids", async () => {
    await using workspace = await openWorkspace((request) => ({ text: `answer ${request.index}` }));
    const { session } = await json(workspace, "--output-format", "json", "fix the\n  build");
    const fork = await json(workspace, "sessions", "fork", session, "--json");
    const { code, stdout } = await workspace.keelson("sessions", "list");
    expect(code).toBe(0);
    for (const id of [session, fork.session])
      expect(stdout).toMatch(new RegExp(`${id}[^\n]*\n {2}fix the build\n {2}\\d.* ago · .*\\$\\d`));
    expect(await json(workspace, "sessions", "list", "--json")).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: session, firstWords: "fix the build" })]),
    );

    const more = await json(workspace, "--output-format", "json", "-r", session.slice(0, 12), "and the docs");
    expect(more.session).toBe(session);
    expect((await workspace.keelson("sessions", "show", session.slice(0, 12))).stdout).toContain("› and the docs");
    const unknown = await workspace.keelson("-p", "-r", "nothing-begins-so", "go");
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringMatching(/There is no session "nothing-begins-so"/)]);
    const both = await workspace.keelson("sessions", "delete", "");
    expect([both.code, both.stderr]).toEqual([2, expect.stringMatching(/2 sessions begin with ""/)]);
    const alone = await workspace.keelson("-p", "-r");
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringMatching(/-r needs the id of a session/)]);
  });

  it("are listed by agent, tag, state and time, and by all that is asked for together", async () => {
    await using workspace = await openWorkspace((request) => ({ text: `answer ${request.index}` }));
    const kept = await json(workspace, "--output-format", "json", "one");
    const other = await json(workspace, "--output-format", "json", "two");
    await json(workspace, "sessions", "tag", kept.session, "keep", "--json");
    const listed = async (...options: readonly string[]) =>
      ((await json(workspace, "sessions", "list", "--json", ...options)) as unknown as readonly { id: string }[]).map(({ id }) => id);
    expect(await listed("--tag", "keep")).toEqual([kept.session]);
    expect((await listed("--agent", "code", "--state", "ended", "--since", "1h")).toSorted()).toEqual(
      [kept.session, other.session].toSorted(),
    );
    expect(await listed("--tag", "keep", "--state", "working")).toEqual([]);
    expect(await listed("--agent", "nobody")).toEqual([]);
    expect(await listed("--since", "0d")).toEqual([]);
    expect(await workspace.keelson("sessions", "list", "--since", "2100-01-01")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/No session of .* fits; -a lists/),
    });
  });

  it("are searched by words, and forked at the record that was found", async () => {
    await using workspace = await openWorkspace((request) => ({ text: `answer ${request.index} about the lighthouse` }), { "sub/x": "" });
    const { session } = await json(workspace, "--output-format", "json", "draw a harbour map");
    await json(workspace, "--output-format", "json", "-c", "now without the boats");
    await json(workspace, "--output-format", "json", "-C", "sub", "something else");
    const searched = async (...words: readonly string[]) =>
      (await json(workspace, "sessions", "search", "--json", ...words)) as unknown as {
        readonly hits: readonly { readonly session: string; readonly seq: number; readonly snippet: string }[];
      };
    expect((await searched("lighthouse")).hits).toHaveLength(3);
    expect((await searched("lighthouse", "--limit", "1")).hits).toHaveLength(1);
    expect((await searched("lighthouse", "--session", session.slice(0, 12))).hits).toHaveLength(2);
    const { hits } = await searched("Harbour", "draw");
    expect(hits).toEqual([expect.objectContaining({ session, snippet: "draw a harbour map" })]);

    const printed = await workspace.keelson("sessions", "search", "boat");
    expect(printed.stdout).toMatch(new RegExp(`^${session} {2}record \\d+ · message · .* ago\n {2}now without the boats\n`));
    expect(await workspace.keelson("sessions", "search", "submarine")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/Nothing was found/),
    });

    const fork = await json(workspace, "sessions", "fork", session, "--at", String(hits[0]?.seq), "--json");
    await json(workspace, "--output-format", "json", "-r", fork.session, "in blue");
    expect(lastMessages(workspace)).toMatch(/harbour map[\s\S]*in blue/);
    expect(lastMessages(workspace)).not.toContain("boats");
    const beyond = await workspace.keelson("sessions", "fork", session, "--at", "9999");
    expect([beyond.code, beyond.stderr]).toEqual([1, expect.stringMatching(/can't be forked at record 9999/)]);
  });

  it("have one writer: a second process is refused, and the first is not disturbed", async () => {
    await using workspace = await openWorkspace([
      { text: "words and words and words", misbehave: { stall: "in-body" } },
      { text: "Second." },
    ]);
    const running = workspace.start(["-p", "--output-format", "stream-json", "go"]);
    await running.until(/"text-delta"/);
    const [start] = eventsOf({ stdout: running.output().split("\n", 1)[0] ?? "" });
    const session = start?.type === "run-start" ? start.session : "";
    const refused = await Promise.all([
      workspace.keelson("-p", "-r", session),
      workspace.keelson("-p", "-r", session, "me too"),
      workspace.keelson("sessions", "delete", session),
    ]);
    for (const { code, stderr } of refused)
      expect([code, stderr]).toEqual([expect.any(Number), expect.stringMatching(new RegExp(session))]);
    expect(refused.map(({ code }) => code)).not.toContain(0);
    expect(refused[0]?.stderr).toMatch(/is being worked on by \d+@/);
    expect(running.child.exitCode).toBe(null);

    // A dead owner is recognised at once: the run goes on under its id.
    running.child.kill("SIGKILL");
    await running.finished;
    const resumed = await workspace.keelson("-p", "-r", session, "--output-format", "stream-json");
    expect(endOf(eventsOf(resumed))).toMatchObject({ type: "run-complete", reason: "complete", text: "Second.", runId: start?.runId });
  });

  it("say what is wrong when their database is damaged, and end with 1", async () => {
    await using workspace = await openWorkspace([{ text: "ok" }]);
    await workspace.keelson("-p", "go");
    await writeFile(join(workspace.home, "sessions.db"), "this is no database, and long enough to be looked at as one".repeat(100));
    const { code, stdout, stderr } = await workspace.keelson("sessions", "list");
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringMatching(/sessions\.db/)]);
    expect(stderr).not.toMatch(/\n +at /);
  });
});

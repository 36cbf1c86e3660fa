import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type Desk, endOf, eventsOf, openDesk } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

interface Printed {
  readonly session: string;
  readonly messages?: unknown;
}

const json = async (desk: Desk, ...args: readonly string[]): Promise<Printed> => {
  const { code, stdout, stderr } = await desk.keelson(...args);
  if (code !== 0) throw new Error(`keelson ${args.join(" ")} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as Printed;
};
const lastMessages = (desk: Desk): string => JSON.stringify((desk.server.requests.at(-1)?.body as { messages: unknown }).messages);

describe("sessions", () => {
  it("go on where they were: the newest of this folder with -c, any with -r", async () => {
    await using desk = await openDesk((request) => ({ text: `answer ${request.index}` }), { "sub/x": "" });
    const first = await json(desk, "--output-format", "json", "my name is Ada");
    const elsewhere = await json(desk, "--output-format", "json", "-C", "sub", "another folder");
    const more = await json(desk, "--output-format", "json", "-c", "what is my name?");
    expect(more.session).toBe(first.session);
    expect(lastMessages(desk)).toMatch(/my name is Ada[\s\S]*answer 0[\s\S]*what is my name/);
    expect(lastMessages(desk)).not.toContain("another folder");

    // By its id a session is found from anywhere, and works where it did.
    await json(desk, "--output-format", "json", "-r", elsewhere.session, "and here?");
    expect(JSON.stringify(desk.server.requests.at(-1)?.body)).toContain(join(desk.project, "sub"));
  });

  it("are kept in a folder of their owner alone", async () => {
    await using desk = await openDesk([{ text: "ok" }]);
    await desk.keelson("-p", "go");
    expect((await stat(desk.home)).mode & 0o777).toBe(0o700);
    expect((await stat(join(desk.home, "approval-keys.json"))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(desk.home, "version"), "utf8")).toBe("1\n");
    await writeFile(join(desk.home, "version"), "99\n");
    expect(await desk.keelson("sessions", "list")).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(/newer Keelson/) });
  });

  it("can be listed, shown, named, tagged, forked, rewound and deleted", async () => {
    await using desk = await openDesk((request) => ({ text: `answer ${request.index}` }));
    const { session } = await json(desk, "--output-format", "json", "one");
    await json(desk, "--output-format", "json", "-c", "two");
    await json(desk, "sessions", "rename", session, "my work", "--json");
    await json(desk, "sessions", "tag", session, "keep", "--json");

    const listed = (await json(desk, "sessions", "list", "--json")) as unknown as readonly object[];
    expect(listed).toEqual([
      expect.objectContaining({ id: session, name: "my work", tags: ["keep"], turnCount: 2, folder: desk.project, agentName: "code" }),
    ]);
    const shown = await desk.keelson("sessions", "show", session);
    expect(shown.stdout).toMatch(/my work {2}#keep[\s\S]*› one[\s\S]*answer 0[\s\S]*› two[\s\S]*answer 1/);

    const fork = await json(desk, "sessions", "fork", session, "--turn", "1", "--name", "other way", "--json");
    await json(desk, "--output-format", "json", "-r", fork.session, "three");
    expect(lastMessages(desk)).toMatch(/one[\s\S]*answer 0[\s\S]*three/);
    expect(lastMessages(desk)).not.toContain("two");

    await json(desk, "sessions", "rewind", session, "1", "--json");
    await json(desk, "--output-format", "json", "-r", session, "four");
    expect(lastMessages(desk)).toMatch(/one[\s\S]*answer 0[\s\S]*four/);
    expect(lastMessages(desk)).not.toContain("two");

    await json(desk, "--output-format", "json", "-r", session, "--fork", "five");
    expect(lastMessages(desk)).toMatch(/four[\s\S]*five/);
    expect((await json(desk, "sessions", "show", session, "--json")).messages).not.toContain("five");

    const parent = await desk.keelson("sessions", "delete", session);
    expect([parent.code, parent.stderr]).toEqual([1, expect.stringMatching(/shares its history with its fork/)]);
    await json(desk, "sessions", "delete", fork.session, "--json");
    expect((await desk.keelson("sessions", "show", fork.session)).stderr).toMatch(/no session/i);
  });

  it("are listed with how they began, their age and their cost, and found by the beginning of their ids", async () => {
    await using desk = await openDesk((request) => ({ text: `answer ${request.index}` }));
    const { session } = await json(desk, "--output-format", "json", "fix the\n  build");
    const fork = await json(desk, "sessions", "fork", session, "--json");
    const { code, stdout } = await desk.keelson("sessions", "list");
    expect(code).toBe(0);
    for (const id of [session, fork.session])
      expect(stdout).toMatch(new RegExp(`${id}[^\n]*\n {2}fix the build\n {2}\\d.* ago · .*\\$\\d`));
    expect(await json(desk, "sessions", "list", "--json")).toEqual(
      expect.arrayContaining([expect.objectContaining({ id: session, firstWords: "fix the build" })]),
    );

    const more = await json(desk, "--output-format", "json", "-r", session.slice(0, 12), "and the docs");
    expect(more.session).toBe(session);
    expect((await desk.keelson("sessions", "show", session.slice(0, 12))).stdout).toContain("› and the docs");
    const unknown = await desk.keelson("-p", "-r", "nothing-begins-so", "go");
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringMatching(/There is no session "nothing-begins-so"/)]);
    const both = await desk.keelson("sessions", "delete", "");
    expect([both.code, both.stderr]).toEqual([2, expect.stringMatching(/2 sessions begin with ""/)]);
    const alone = await desk.keelson("-p", "-r");
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringMatching(/-r needs the id of a session/)]);
  });

  it("have one writer: a second process is refused, and the first is not disturbed", async () => {
    await using desk = await openDesk([{ text: "words and words and words", misbehave: { stall: "in-body" } }, { text: "Second." }]);
    const running = desk.start(["-p", "--output-format", "stream-json", "go"]);
    await running.until(/"text-delta"/);
    const [start] = eventsOf({ stdout: running.output().split("\n", 1)[0] ?? "" });
    const session = start?.type === "run-start" ? start.session : "";
    const refused = await Promise.all([
      desk.keelson("-p", "-r", session),
      desk.keelson("-p", "-r", session, "me too"),
      desk.keelson("sessions", "delete", session),
    ]);
    for (const { code, stderr } of refused)
      expect([code, stderr]).toEqual([expect.any(Number), expect.stringMatching(new RegExp(session))]);
    expect(refused.map(({ code }) => code)).not.toContain(0);
    expect(refused[0]?.stderr).toMatch(/is being worked on by \d+@/);
    expect(running.child.exitCode).toBe(null);

    // A dead owner is recognised at once: the run goes on under its id.
    running.child.kill("SIGKILL");
    await running.finished;
    const resumed = await desk.keelson("-p", "-r", session, "--output-format", "stream-json");
    expect(endOf(eventsOf(resumed))).toMatchObject({ type: "run-complete", reason: "complete", text: "Second.", runId: start?.runId });
  });

  it("say what is wrong when their database is damaged, and end with 1", async () => {
    await using desk = await openDesk([{ text: "ok" }]);
    await desk.keelson("-p", "go");
    await writeFile(join(desk.home, "sessions.db"), "this is no database, and long enough to be looked at as one".repeat(100));
    const { code, stdout, stderr } = await desk.keelson("sessions", "list");
    expect([code, stdout, stderr]).toEqual([1, "", expect.stringMatching(/sessions\.db/)]);
    expect(stderr).not.toMatch(/\n +at /);
  });
});

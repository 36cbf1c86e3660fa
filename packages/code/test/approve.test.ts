import { access } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type Workspace, endOf, eventsOf, MODELS, openWorkspace, resultsIn, WIRES } from "./keelson-process.ts";

// Every test starts processes, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

const ASKING = { text: "I need a command.", toolCalls: [{ name: "bash", input: { command: "touch made" } }] };

interface Suspended {
  readonly token: string;
  readonly session: string;
  readonly run: string;
}

/** Runs a task that asks, and takes what is needed to go on from what it printed. */
async function suspend(workspace: Workspace, ...args: readonly string[]): Promise<Suspended> {
  const { code, stdout, stderr } = await workspace.keelson("-p", "--output-format", "json", ...args, "make a file");
  const outcome = JSON.parse(stdout) as {
    readonly reason: string;
    readonly session: string;
    readonly run: string;
    readonly waits: readonly { readonly token: string; readonly commands: readonly string[] }[];
    readonly resume: string;
  };
  const token = outcome.waits[0]?.token ?? "";
  expect([code, outcome.reason]).toEqual([4, "awaiting-approval"]);
  expect(outcome.waits[0]?.commands[0]).toBe(`keelson approve ${token} allow`);
  expect(outcome.resume).toBe(`keelson -p -r ${outcome.session}`);
  expect(stderr).toContain(`keelson approve ${token} allow`);
  return { token, session: outcome.session, run: outcome.run };
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

describe.each(WIRES)("a question asked headless over the wire of %s", (wire) => {
  it("is decided by another process, and the run completes under the same id", async () => {
    await using workspace = await openWorkspace([ASKING, { text: "Made it." }]);
    const { token, session, run } = await suspend(workspace, "--model", MODELS[wire]);
    expect(await exists(join(workspace.project, "made"))).toBe(false);

    const approved = await workspace.keelson("approve", token, "allow");
    expect(approved).toEqual({ code: 0, stdout: expect.stringContaining(`keelson -p -r ${session}`), stderr: "" });

    // From another folder, without naming the model: both stand in the session.
    const resumed = await workspace.start(["-p", "-r", session, "--output-format", "stream-json"], { cwd: workspace.home }).finished;
    const events = eventsOf(resumed);
    expect(endOf(events)).toMatchObject({ type: "run-complete", reason: "complete", text: "Made it.", runId: run });
    expect(events.find(({ type }) => type === "approval-decision")).toMatchObject({ decision: { type: "allow", by: "tester" } });
    expect(resumed.code).toBe(0);
    expect(await exists(join(workspace.project, "made"))).toBe(true);
    expect(workspace.server.requests.length).toBe(2);
  });
});

describe("keelson approve", () => {
  it("passes a refusal and its reason on to the model", async () => {
    await using workspace = await openWorkspace([ASKING, { text: "Then not." }]);
    const { token, session } = await suspend(workspace);
    expect((await workspace.keelson("approve", token, "deny", "no files today")).code).toBe(0);
    expect((await workspace.keelson("-p", "-r", session)).stdout).toBe("Then not.\n");
    expect(resultsIn(workspace.server.requests[1] as never)).toContain("no files today");
    expect(await exists(join(workspace.project, "made"))).toBe(false);
  });

  it("runs a call with the arguments it was given instead", async () => {
    await using workspace = await openWorkspace([ASKING, { text: "Done." }]);
    const { token, session } = await suspend(workspace);
    expect(
      (await workspace.start(["approve", token, "allow-modified", "-"], { stdin: '{"command":"touch edited"}\n' }).finished).code,
    ).toBe(0);
    expect((await workspace.keelson("-p", "-r", session)).code).toBe(0);
    expect([await exists(join(workspace.project, "made")), await exists(join(workspace.project, "edited"))]).toEqual([false, true]);
  });

  it("passes the digits of an integer on as a person wrote them", async () => {
    await using workspace = await openWorkspace([ASKING, { text: "Done." }]);
    const { token, session } = await suspend(workspace);
    expect((await workspace.keelson("approve", token, "allow-modified", '{"command":1917043659912705296}')).code).toBe(0);
    expect((await workspace.keelson("-p", "-r", session)).code).toBe(0);
    expect(resultsIn(workspace.server.requests[1] as never)).toContain("1917043659912705296: ");
  });

  it("refuses forged, edited, malformed and used tokens, and the run still waits for the right one", async () => {
    await using workspace = await openWorkspace([ASKING, { text: "Made it." }]);
    const { token, session } = await suspend(workspace);
    const [prefix, key, claims = "", signature = ""] = token.split(".");
    const altered = Buffer.from(Buffer.from(claims, "base64url").toString().replace("bash", "glob")).toString("base64url");
    const forgeries = [
      [prefix, key, altered, signature].join("."),
      [prefix, key, claims, signature.replace(/./, (first) => (first === "A" ? "B" : "A"))].join("."),
      [prefix, "000000000000", claims, signature].join("."),
      token.slice(0, -5),
      "nonsense",
    ];
    const refused = await Promise.all(forgeries.map((forgery) => workspace.keelson("approve", forgery, "allow")));
    for (const { code, stdout, stderr } of refused)
      expect([code, stdout, stderr]).toEqual([1, "", expect.stringMatching(/^keelson: .*token/)]);

    // Nothing was decided by any of them.
    expect((await workspace.keelson("-p", "-r", session)).code).toBe(4);
    expect((await workspace.keelson("approve", token, "allow")).code).toBe(0);
    const again = await workspace.keelson("approve", token, "deny");
    expect([again.code, again.stderr]).toEqual([1, expect.stringMatching(/used|already/)]);
    expect((await workspace.keelson("-p", "-r", session)).stdout).toBe("Made it.\n");
    expect((await workspace.keelson("approve", token, "allow")).code).toBe(1);
  });

  it("prints the rules that allow-always grants, which hold for the session and for nothing else [AV-02]", async () => {
    const calls = ["touch made; rm -rf build", "touch made; rm -rf build", "rm -rf src"];
    const responses = calls.map((command) => ({ toolCalls: [{ name: "bash", input: { command } }] }));
    await using workspace = await openWorkspace(responses, { "build/x": "", "src/x": "" });
    const { token, session } = await suspend(workspace);
    const { code, stdout } = await workspace.keelson("approve", token, "allow-always");
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/^recorded: allow-always\nallowed from now on, in this session:\n {2}bash\(touch made; rm -rf build\)\n/),
    ]);
    // The second call is what was allowed, the third is not.
    expect((await workspace.keelson("-p", "-r", session)).code).toBe(4);
    expect(workspace.server.requests.length).toBe(3);
    expect(await Promise.all(["made", "build", "src"].map((path) => exists(join(workspace.project, path))))).toEqual([true, false, true]);
  });

  it("refuses a token whose time is over", async () => {
    await using workspace = await openWorkspace([ASKING]);
    const { token } = await suspend(workspace);
    // The same machine, a month later.
    const later = `data:text/javascript,${encodeURIComponent("const now = Date.now; Date.now = () => now() + 30 * 86400000;")}`;
    const { code, stderr } = await workspace.start(["approve", token, "allow"], { env: { NODE_OPTIONS: `--import=${later}` } }).finished;
    expect([code, stderr]).toEqual([1, expect.stringMatching(/expired/)]);
  });

  it("refuses values that do not fit the decision, as wrong usage", async () => {
    await using workspace = await openWorkspace([]);
    const cases: readonly [readonly string[], RegExp][] = [
      [["allow", "{}"], /allow takes no value/],
      [["allow-modified"], /needs a value/],
      [["allow-modified", "{command}"], /no JSON/],
    ];
    for (const { args, words } of cases.map(([args, words]) => ({ args, words }))) {
      const { code, stderr } = await workspace.keelson("approve", "token", ...args);
      expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
    }
  });

  it("reaches a run that waits in a living process", async () => {
    await using workspace = await openWorkspace([ASKING, { text: "Made it." }]);
    const { token, session } = await suspend(workspace);
    // Decided first, resumed after: the inbox keeps it whoever reads it.
    const [approved, resumed] = await Promise.all([
      workspace.keelson("approve", token, "allow-always"),
      workspace.keelson("-p", "-r", session),
    ]);
    expect(approved.code).toBe(0);
    // The resumed process may have looked before the decision came; then it waits again, and loses nothing.
    const end = resumed.code === 4 ? await workspace.keelson("-p", "-r", session) : resumed;
    expect([end.code, end.stdout]).toEqual([0, "Made it.\n"]);
  });
});
